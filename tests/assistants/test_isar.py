"""Certificates as Isar proofs: a reader accepts them, and rejects wrong and changed ones."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings

from proof_r1_formal.assistants.certificate import Certificate, CertifiedStep
from proof_r1_formal.engine.prover import search
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.signature import mangle
from proof_r1_formal.kernel.syntax import BOTTOM, ENTITY, And, ForAll, Implies, Var, atom, const
from proof_r1_formal.kernel.term import Absurd, Contradiction, Instance, Proof, Repeat, Suppose, Witness
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.rules.schema import Rule
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.assistants.isar_certificates import (
    QUERIES,
    answer_theory,
    certificate,
    certified_trace,
    one_step,
    proved,
    rule_instance,
)
from tests.assistants.isar_reader import Answer, read_theory
from tests.assistants.test_lean_kernel import truth_table_lines
from tests.build import sequent


def assert_reads(checked: Certificate) -> Answer:
    """The certificate's theory, read, checked and compared with the certificate."""
    answer = read_theory(answer_theory(checked, "Answer"), "Answer")
    used = {name for step in checked.steps for name in step.dependencies}
    assert answer.premises == {mangle(n, "h"): f for n, f in checked.premises.items() if n in used}
    assert answer.conclusion is checked.goal
    statements = iter(answer.statements)
    assert all(any(said is step.formula for said in statements) for step in checked.steps)  # in their order
    return answer


@settings(max_examples=450)
@given(strategies.queries() | strategies.signatures(symbols=strategies.names()).flatmap(strategies.queries))
def test_certificates_of_generated_proofs(query: Query) -> None:
    proof = search(query.dependencies, query.conclusion, budget=2_000).proof
    assume(proof is not None)
    assert proof is not None
    assert_reads(one_step(query, proof))


@pytest.mark.parametrize("text", QUERIES)
def test_certificates(text: str) -> None:
    query = sequent(text)
    assert_reads(one_step(query, proved(query)))


def test_every_line_that_truth_tables_force_is_written() -> None:
    for query, proof in truth_table_lines():
        assert_reads(one_step(query, proof))


@pytest.mark.parametrize("rule_", FOLIO.rules, ids=lambda each: each.name)
def test_certificates_apply_the_schemata(rule_: Rule) -> None:
    checked = rule_instance(rule_)
    assert_reads(checked)
    assert any(f"{each.isabelle}[" in answer_theory(checked, "T") for each in rule_.schemata)


def test_the_certificate_of_a_trace() -> None:
    answer = assert_reads(certified_trace())
    assert list(answer.premises) == ["h_p1", "h_p2", "h_p3", "h_p4", "h_p5"]
    assert (
        r"""  have d_s1: "(p_care f_alonzo)"
  proof -
    have h1: "(((p_empathy f_alonzo) \<or> (p_compassion f_alonzo)) \<longrightarrow> (p_care f_alonzo))"
      by (rule universal_elimination[where A="\<lambda>v_x's_Entity::'s_Entity. (((p_empathy v_x's_Entity) \<or> """
        r"""(p_compassion v_x's_Entity)) \<longrightarrow> (p_care v_x's_Entity))" and t="f_alonzo", OF h_p5])
    have h2: "((p_empathy f_alonzo) \<or> (p_compassion f_alonzo))"
      by (rule or_of_any_true[OF h_p2])
    show "(p_care f_alonzo)"
      by (rule implication_elimination[where A="((p_empathy f_alonzo) \<or> (p_compassion f_alonzo))" and """
        r"""B="(p_care f_alonzo)", OF h1 h2])
  qed
""" in answer_theory(certified_trace(), "Alonzo")
    )


HOSTILE = ("sorry", 'x"', "a\nend\n", r"\<close>", "*)", "x_", "'a", "?thesis", "h1", "OF", "␣goal", "d_", "∀")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_ids_stay_in_their_place(name: str) -> None:
    fact, rule_ = atom(f"{name}.", const(f"{name},")), ForAll(Var(name, name), atom(name, Var(name, name)))
    first = CertifiedStep(name, (f"{name} 0",), fact, (Repeat(0),))
    last = CertifiedStep(
        f"{name} 1", (name, f"{name} 2"), And(rule_, fact), proved(Query((fact, rule_), And(rule_, fact)))
    )
    assert_reads(certificate({f"{name} 0": fact, f"{name} 2": rule_, "unused": BOTTOM}, first, last))


@pytest.mark.parametrize(
    ("text", "proof"),
    [
        ("p ⊢ q", ()),
        ("p ⊢ q", (Instance(0, const("a")),)),
        ("p ⊢ q", (Witness(0, const("c")), Repeat(1))),
        ("∀x P(x) ⊢ P(a)", (Instance(0, Var("x", ENTITY)),)),
    ],
)
def test_what_is_no_proof(text: str, proof: Proof) -> None:
    with pytest.raises(ProofError):
        answer_theory(one_step(sequent(text), proof), "T")


# -- the reader is not credulous --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "proof"),
    [
        ("p ⊢ q", (Repeat(0),)),
        ("q ⊢ p → q", (Suppose(Implies(atom("p"), atom("q")), (Repeat(1),)),)),
        ("p ⊢ ¬p", (Absurd(parse_formula("p"), (Contradiction(0, 1),)),)),
        ("∃x P(x) ⊢ P(a)", (Witness(0, const("a")), Repeat(1))),
        ("∃x P(x) ⊢ P(a)", (Witness(0, const("c")), Repeat(1))),
    ],
)
def test_a_wrong_proof_is_not_read(text: str, proof: Proof) -> None:
    query = sequent(text)
    with pytest.raises(ProofError):
        check(proof, query.dependencies, query.conclusion)
    written = answer_theory(one_step(query, proof), "T")
    with pytest.raises((AssertionError, KeyError)):
        read_theory(written, "T")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("or_of_any_true[OF h_p2]", "or_of_true_any[OF h_p2]"),
        ("or_of_any_true[OF h_p2]", "or_of_any_true[OF h_p3]"),
        ("or_of_any_true[OF h_p2]", "or_of_any_true"),
        ("or_of_any_true[OF h_p2]", "disjI2[OF h_p2]"),
        ("OF h_p3 d_s1", "OF d_s1 h_p3"),
        ('t="f_alonzo", OF h_p5', 't="f_bob", OF h_p5'),
        ('have d_s4: "(\\<not> (p_harms f_alonzo))"', 'have d_s4: "(p_harms f_alonzo)"'),
        ('  shows "(\\<not> (p_harms f_alonzo))"', '  shows "(p_harms f_alonzo)"'),
        ("    by (rule xor_elimination_left", "    by (rule xor_elimination_right"),
        ("  qed\n  have d_s2", "  have d_s2"),
        ("  show ?thesis\n", "  show ?thesis\n  qed\n"),
        ("by (rule d_h_goal_false)", "by blast"),
        ("by (rule d_h_goal_false)", "by (rule h1)"),
    ],
)
def test_changed_certificates_are_not_read(old: str, new: str) -> None:
    text = answer_theory(certified_trace(), "T")
    assert old in text
    with pytest.raises((AssertionError, KeyError, ValueError, IndexError)):
        read_theory(text.replace(old, new, 1), "T")


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("∀x P(x) ⊢ ∀y (P(y) ∨ q)", r'fix (\w+) :: "([^"]*)"', ""),
        ("∃x P(x); ∀x (P(x) → q) ⊢ q", r'obtain (\w+) :: "([^"]*)" where h1: "[^"]*"\s*by [^\n]*', r'fix \1 :: "\2"'),
        ("p → q ⊢ ¬q → ¬p", r'assume h1: "[^"]*"', 'assume h1: "False"'),
        ("a = b; R(a,b) ⊢ R(b,a)", 's="f_a" and t="f_b"', 's="f_b" and t="f_a"'),
    ],
)
def test_changed_blocks_are_not_read(text: str, old: str, new: str) -> None:
    query = sequent(text)
    written = answer_theory(one_step(query, proved(query)), "T")
    changed = re.sub(old, new, written)
    assert changed != written
    with pytest.raises((AssertionError, KeyError, ValueError, IndexError)):
        read_theory(changed, "T")
