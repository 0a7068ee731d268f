"""Problems of the study of teaching: one answer, the shortest proof, and files that share none."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from proof_r1_formal import Verifier, read_problems
from proof_r1_formal.generate import summary
from proof_r1_formal.kernel.answer import Entailed, Refuted
from studies.pretrained.problems import key
from studies.teaching.problems import WARM_UP, File, problems, write_files

FILES = {
    "same": File(10, 5, (1, 2)),
    "longer": File(8, 6, (4, 4)),
    "reinforcement": File(30, 7, (1, 2)),
    "warm-up": File(40, 8, (1, 2)),
}


@pytest.mark.parametrize("steps", [1, 3, 5])
def test_one_option_follows_and_its_proof_has_so_many_steps(steps: int) -> None:
    verifier = Verifier()
    for problem in islice(problems("drawn", File(4, 11, (steps, steps))), 4):
        premises = tuple([premise.formula for premise in problem.premises])
        for option in problem.options:
            expected = Entailed if option.id == problem.answer else Refuted
            assert isinstance(verifier.oracle.entails(premises, option.formula), expected)
        (proof,) = problem.proofs
        report = verifier.verify(problem, summary(proof))
        assert report.rule_verified
        assert report.answer_correct
        assert len(proof) == steps + 1


def test_premises_stand_in_the_order_of_their_use() -> None:
    for problem in islice(problems("drawn", File(8, 12, (3, 3))), 8):
        (proof,) = problem.proofs
        ids = [premise.id for premise in problem.premises]
        used = dict.fromkeys([name for step in proof for name in step.dependencies if name in ids])
        assert list(used) == [name for name in ids if name in used]


def test_the_same_problems_each_time_and_none_in_two_files(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        write_files(tmp_path / folder, FILES)
    keys: dict[str, set[bytes]] = {}
    for name, file in FILES.items():
        first, second = ((tmp_path / folder / f"{name}.jsonl").read_bytes() for folder in ("first", "second"))
        assert first == second
        read = read_problems(tmp_path / "first" / f"{name}.jsonl")
        assert len(read) == file.count
        keys[name] = set(map(key, read.values()))
        assert name == WARM_UP or len(keys[name]) == file.count
    names = list(FILES)
    for place, name in enumerate(names):
        assert all(not keys[name] & keys[other] for other in names[place + 1 :])
