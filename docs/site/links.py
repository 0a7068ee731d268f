"""Links from pages to files of the checkout outside ``docs/``: the site carries a copy of such a file.

Pages are read as files of the checkout, too, so they link to ``../check_bundle.py``; on the site that is
``source/check_bundle.py``.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_OUTSIDE = re.compile(r"(\]\()((?:\.\./)+[^)#]+)(?=[)#])")


def _source(page: str, link: str) -> str | None:
    """The path in the checkout that a link of a page in ``docs/`` means, if it lies outside ``docs/``."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    return None if path.startswith("docs/") else path


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs with the files of the site: adds those that pages link to."""
    root = Path(config.docs_dir).parent
    for page in files.documentation_pages():
        for match in _OUTSIDE.finditer(page.content_string):
            path = _source(page.src_uri, match[2])
            if path is not None and (root / path).is_file() and f"source/{path}" not in files.src_uris:
                files.append(File.generated(config, f"source/{path}", abs_src_path=str(root / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Called by MkDocs with a page's text: makes such links lead to the copies."""
    del config, files

    def moved(match: re.Match[str]) -> str:
        path = _source(page.file.src_uri, match[2])
        if path is None:
            return match[0]
        return match[1] + posixpath.relpath(f"source/{path}", posixpath.dirname(page.file.src_uri) or ".")

    return _OUTSIDE.sub(moved, markdown)
