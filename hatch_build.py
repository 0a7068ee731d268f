"""What building a wheel does besides: it compiles the core if ``PROOF_R1_COMPILE`` is 1 (``compile_core.py``)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledCore(BuildHookInterface[Any]):
    """Adds the extension modules to the wheel, which then is one for this platform and version of Python."""

    _folder: TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """What is needed to compile; nothing without."""
        return ["mypy>=2.4", "setuptools>=75", "msgspec>=0.19"] if self._wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or not self._wanted():
            return
        self._folder = TemporaryDirectory()
        folder = Path(self._folder.name)
        subprocess.run([sys.executable, Path(self.root, "compile_core.py"), folder], check=True)
        for pattern in ("*__mypyc*", "proof_r1_formal/*/*.so", "proof_r1_formal/*/*.pyd"):
            for extension in folder.glob(pattern):
                build_data["force_include"][str(extension)] = extension.relative_to(folder).as_posix()
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, *_built: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    @staticmethod
    def _wanted() -> bool:
        return os.environ.get("PROOF_R1_COMPILE") == "1"
