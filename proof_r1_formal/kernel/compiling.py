"""The compiled core (docs/performance.md): what the compiler must know of classes, and whether it is in use."""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr
else:

    def mypyc_attr(*_attributes, **_settings):
        """Tell the compiler something about a class; Python takes no notice."""
        return lambda cls: cls


def is_compiled() -> bool:
    """Whether the core is compiled in this installation."""
    spec = find_spec("proof_r1_formal.kernel.transform")
    return spec is not None and spec.origin is not None and spec.origin.endswith(tuple(EXTENSION_SUFFIXES))
