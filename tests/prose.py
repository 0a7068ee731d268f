"""Find sentences that are not plain technical English: ``python -m tests.prose [FILE…]`` lists them, one a line.

In: Markdown files, Makefiles and Python files. Out: findings with file, line and reason. The checker reads Markdown
outside of code blocks, comments, docstrings, and the string constants of Python files. ``CONTRIBUTING.md`` states the
rules.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 40
"""The most words of a sentence of a page; most sentences have fewer than 25."""

BANNED = {
    r"(?<!there\s)\b(?:is|are|was|were) no(?! (?:longer|more|fewer|less|larger|smaller|later)\b) [a-z]": (
        "is not a …, has no …"
    ),
    r"\b(?:is|are|was|be) told\b|\btold (?:in|apart)\b": "describes, distinguishes",
    r"\banew\b": "again, from scratch",
    r"\bwhat of\b": "which …",
    r"\bwho has (?:it|them)\b": "name the owner",
    r"\bto no purpose\b": "unnecessarily",
    r"\bthough \w+ be\b|\bso that \w+ be\b|\bbe (?:it|they)\b": "use the indicative",
    r", were (?:it|its|they|their|there)\b": "if … were",
    r"\b(?:comes?|came) of\b": "results from",
    r"\bstay(?:s|ed)? open\b": "is undecided",
    r"\bgo(?:es)? on (?:with|to|after|from)\b": "continues, resumes",
    r"\bin passing\b": "temporarily",
    r"\bat work\b|\bunder way\b": "running",
    r"\bnothing (?:else )?is (?:said|told|asked)\b": "by default",
    r"\bas one likes\b|\bone's own\b|\bone wishes\b": "your own, any",
    r"\bdearest\b|\bmended\b|\bhired\b": "most expensive, fixed, started",
    r"\btakes? (?:it|them|those|that|one)\b[^.]{0,40}\balong\b": "fails too",
    r"\bdoes? so for good\b": "permanently",
    r"\ba solver's word\b|\bthe word of a solver\b": "an answer without evidence",
    r"\bin hand\b": "queued",
    r"\bin (?:its|their) turn\b": "in order",
    r"\b(?:is|are) (?:all )?that is (?:asked|needed|said)\b": "say who needs what",
    r"\bsees to it\b|\bsee to it\b": "ensures",
    r"\bnow and then\b|\bwhat for\b": "say when, say why",
}
"""Constructions to avoid, as regular expressions without case -> what to write."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A place that needs another wording."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


def constructions(text: str) -> Iterator[tuple[int, str]]:
    """The banned constructions in a text: the offset, and the reason."""
    for pattern, better in BANNED.items():
        for match in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE):
            yield match.start(), f"{' '.join(match[0].split())!r}: write {better!r}"


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a paragraph: the offset, and the text. A semicolon does not end a sentence."""
    start = 0
    for match in re.finditer(r"[.!?:](?:[*_)\"”]+)?(?=\s|$)|$", text):
        sentence = text[start : match.end()]
        yield start + len(sentence) - len(sentence.lstrip()), sentence.strip()
        start = match.end()


def paragraphs(markdown: str) -> Iterator[tuple[int, str]]:
    """The paragraphs, list items and table cells of a page: the line, counted from 1, and the text.

    Code blocks are left out, and code in a sentence counts as one word.
    """
    plain = re.sub(r"^( *)```.*?^\1```$", lambda m: "\n" * m[0].count("\n"), markdown, flags=re.DOTALL | re.MULTILINE)
    plain = re.sub(r"``?[^`]+``?", lambda m: "code" + "\n" * m[0].count("\n"), plain)
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", plain)
    start, lines = 1, list[str]()
    for number, line in enumerate([*plain.splitlines(), ""], 1):
        begins = re.match(r" *(?:[*#-] |#+ |\d+\. |\||<|    \S)", line)
        if (begins or not line.strip()) and lines:
            yield start, "\n".join(lines)
            lines = []
        if line.lstrip().startswith("|"):
            yield from ((number, cell.strip()) for cell in line.split("|") if cell.strip(" :-"))
        elif line.strip() and not line.startswith(("    ", "<")):
            start = start if lines else number
            lines.append(line)
        elif line.startswith("    ") and lines:
            lines.append(line)


def of_markdown(path: str, text: str) -> Iterator[Finding]:
    """The findings in a page."""
    for first, paragraph in paragraphs(text):
        for offset, reason in constructions(paragraph):
            yield Finding(path, first + paragraph.count("\n", 0, offset), reason)
        for offset, sentence in sentences(paragraph):
            words = re.findall(r"[^\W\d_][\w'’-]*", sentence)
            if len(words) > LONGEST:
                yield Finding(path, first + paragraph.count("\n", 0, offset), f"{len(words)} words: {sentence[:50]!r}…")


def of_python(path: str, text: str) -> Iterator[Finding]:
    """The findings in docstrings, other string constants and comments of a module."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            prose = re.sub(r"``?[^`]+``?", lambda m: "code" + "\n" * m[0].count("\n"), node.value)
            for offset, reason in constructions(prose):
                yield Finding(path, node.lineno + prose.count("\n", 0, offset), reason)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield from (Finding(path, token.start[0], reason) for _, reason in constructions(token.string))


def of_makefile(path: str, text: str) -> Iterator[Finding]:
    """The findings in the comments of a Makefile."""
    for number, line in enumerate(text.splitlines(), 1):
        _, mark, comment = line.partition("#")
        if mark:
            yield from (Finding(path, number, reason) for _, reason in constructions(comment))


READERS = {".md": of_markdown, ".py": of_python, "Makefile": of_makefile}


def findings(path: str, text: str) -> list[Finding]:
    """What needs another wording in a file, in order of the lines. The end of its path says of which kind it is."""
    [reader] = (reader for ending, reader in READERS.items() if path.endswith(ending))
    return sorted(set(reader(path, text)))


def files() -> list[str]:
    """The files that the checker can read, relative to the project; tests are left out, as they quote bad input."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], stdout=subprocess.PIPE, text=True, check=True)
    names = (name for name in listed.stdout.splitlines() if not name.startswith("tests/"))
    return [name for name in names if name.endswith(tuple(READERS)) and (ROOT / name).is_file()]


if __name__ == "__main__":
    for name in sys.argv[1:] or files():
        for finding in findings(name, (ROOT / name).read_text(encoding="utf-8")):
            sys.stdout.write(f"{finding}\n")
