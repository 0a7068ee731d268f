"""Docstrings as the site shows them: their roles of Sphinx (``:func:`f```) become plain code."""

from __future__ import annotations

import ast
import re

import griffe

_ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`(~?)([\w.]+)`")


def plain(text: str) -> str:
    """The text with every role as code; ``~a.b`` shows ``b`` only.

    >>> plain("See :class:`~a.b.C` and :func:`f`.")
    'See `C` and `f`.'
    """
    return _ROLE.sub(lambda match: f"`{match[2].rpartition('.')[2] if match[1] else match[2]}`", text)


class Roles(griffe.Extension):
    """Rewrites docstrings as they are read."""

    def on_instance(self, *, node: ast.AST | griffe.ObjectNode, obj: griffe.Object, **kwargs: object) -> None:
        """Called by Griffe for every object."""
        del node, kwargs
        if obj.docstring is not None:
            obj.docstring.value = plain(obj.docstring.value)
