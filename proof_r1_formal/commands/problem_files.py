"""Files of problems that commands read: one or several, with messages about what cannot be used.

In: paths. Out: the problems of all files by id. A message names what cannot be used, and it is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from proof_r1_formal.commands import common
from proof_r1_formal.data import Format, read_problems
from proof_r1_formal.data.problem import Problem, ProblemSet, Rejected, shown_id
from proof_r1_formal.text.conventions import NotationName


def read_problem_file(
    path: Path, format_: Format, left_out: common.LeftOut | None = None, *, notation: NotationName = "auto"
) -> ProblemSet:
    """The problems of one file, see :func:`read_problem_files`."""
    return read_problem_files((path,), format_, left_out, notation=notation)


def read_problem_files(
    paths: Sequence[Path],
    format_: Format,
    left_out: common.LeftOut | None = None,
    *,
    notation: NotationName = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> ProblemSet:
    """The problems of files; prints a message about each unusable or odd one.

    It ends with an error if no file has a usable problem, or if two files have problems of one id.

    ``left_out`` counts the unusable ones; it is None if one problem alone is wanted. ``progress`` is called with the
    number of records read in a file, and their total.
    """
    found: dict[str, Problem] = {}
    place: dict[str, Path] = {}
    rejected: list[Rejected] = []
    for path in paths:
        known = read_problems(path, format=format_, notation=notation, progress=progress)
        for line in known.left_out(path):
            common.log(line)
        if twice := [name for name in known if name in found]:
            common.fail(f"{path} has a problem {twice[0]!r}, as {place[twice[0]]} has; rename one of the files")
        found.update(known)
        place.update(dict.fromkeys(known, path))
        rejected += known.rejected
    if left_out is not None:
        left_out.problems += len(rejected)
        left_out.refuse()
    for path in paths:
        noted = [problem for name, problem in found.items() if problem.notes and place[name] == path]
        if noted:
            have = common.count_of(len(noted), "problem has", "problems have")
            common.log(f"{path}: {have} notes; the first: {noted[0].id}: {noted[0].notes[0]}")
    if not found:
        shown = shown_paths(paths)
        common.fail(f"{shown} contains no usable problem" if len(paths) == 1 else f"{shown} contain no usable problem")
    return ProblemSet(found, tuple(rejected))


def shown_paths(paths: Sequence[Path]) -> str:
    """The first paths for a message."""
    return ", ".join(map(str, paths[:3])) + (", …" if len(paths) > 3 else "")


def problem_of(path: Path | str, known: ProblemSet, id_: str) -> Problem:
    """The problem of an id that the user gave; ends with an error if the file has none."""
    if id_ not in known:
        common.fail(f"{path} has no usable problem {id_!r}; its first ids are: {shown_ids(list(known))}")
    return known[id_]


def shown_ids(ids: Sequence[str]) -> str:
    """The first five ids for a message, and … if there are more."""
    return ", ".join(map(shown_id, ids[:5])) + (", …" if len(ids) > 5 else "")
