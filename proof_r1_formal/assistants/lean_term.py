"""Proof terms as Lean terms: each line one application of a lemma of ``theories/lean``, so Lean has nothing to search.

In: a proof, its premises with the Lean terms that prove them, and what it proves. Out: the text of a Lean term.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from proof_r1_formal.assistants.proof_writer import Known, ProofWriter, is_own
from proof_r1_formal.engine.lemmas import along_equation, formula_of
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.signature import Signature, mangle, symbols
from proof_r1_formal.kernel.signed import Signed
from proof_r1_formal.kernel.syntax import BOTTOM, App, Eq, ForAll, Formula, Quantified, Term, Var
from proof_r1_formal.render import lean

_INDENT = "  "
_INFERRED = (t.Eliminate, t.Instance, t.Repeat, t.Contradiction)
"""Lines whose terms Lean needs no type for; if they are used once, they stand where they are used."""


def lean_term(
    proof: t.Proof,
    premises: Sequence[tuple[Formula, str]],
    conclusion: Formula,
    signature: Signature,
    *,
    indent: int = 0,
) -> str:
    """A Lean term whose type is the conclusion.

    Args:
        proof, conclusion: as the checker accepts them.
        premises: each with a Lean term of its type.
        signature: of all that is around; what the proof names beyond it is one of its own constants.
        indent: how far lines after the first are indented.

    Raises:
        ProofError: a proof is not one of the calculus.
    """
    writer = _LeanWriter(signature, Counter(_references(proof)), indent)
    body = writer.block(writer.premises(premises), proof, conclusion)
    outside = [f"have {lean.function_name(c)} : {lean.sort_name(s)} := {lean.element_name(s)}" for c, s in writer.loose]
    return f"\n{_INDENT * indent}".join([*outside, body])


class _LeanWriter(ProofWriter[str]):
    """Writes blocks as terms."""

    def __init__(self, signature: Signature, uses: Mapping[int, int], indent: int) -> None:
        super().__init__(signature)
        self._uses = uses  # of a line's number; a number that several blocks give counts for all of them
        self._indent = indent  # of the lines of the next block

    def block(self, known: Sequence[Known], block: t.Block, goal: Formula) -> str:
        """The lines of a block as ``have``, and a term of the goal's type after them; what is known holds outside."""
        if not block:
            raise ProofError("there are no lines")
        known = list(known)
        texts: list[str] = []
        opened: list[str] = []
        for number, line in enumerate(block, 1):
            if isinstance(line, t.Witness):
                texts.append(self._open_witness(known, line))
                opened.append(line.constant.function)
            else:
                says, term = self.line(known, line)
                once = isinstance(line, _INFERRED) and self._uses[len(known)] <= 1
                if once or number == len(block):
                    known.append((says, term))
                    continue
                known.append((says, self.name()))
                texts.append(f"have {known[-1][1]} : {lean.formula(formula_of(says))} := {term}")
        self.unbind(opened)
        texts.append(self.goal(known[-1], goal))
        return f"\n{_INDENT * self._indent}".join(texts) + ")" * len(opened)

    def _open_witness(self, known: list[Known], line: t.Witness) -> str:
        """The beginning of what holds of a witness; the rest of the block is inside."""
        quantified, term, name, part = self.witness(known, line)
        constant = f"({lean.function_name(line.constant.function)} : {lean.sort_name(quantified.variable.sort)})"
        return f"Exists.elim {term} (fun {constant} ({name} : {lean.formula(part)}) =>"

    def _lambda(self, name: str, type_: str, known: Sequence[Known], block: t.Block, goal: Formula) -> str:
        """A function whose value is what a block shows."""
        self._indent += 1
        body = f"{_INDENT * self._indent}{self.block(known, block, goal)}"
        self._indent -= 1
        return f"(fun ({name} : {type_}) =>\n{body})"

    # -- rules --------------------------------------------------------------------------------------------------------

    def lemma(self, name: str, *given: str) -> str:
        return f"({lean.NAMESPACE}.{name} {' '.join(given)})"

    def explosion(self, contradiction: str) -> str:
        return f"(False.elim {contradiction})"

    def instance(self, quantified: Quantified, sign: bool, proof: str, value: str) -> str:
        del quantified  # Lean infers it
        return f"({proof} {value})" if sign else self.lemma("exists_false_instance", proof, value)

    def generalise(self, whole: Quantified, value: str, proof: str) -> str:
        if isinstance(whole, ForAll):
            motive = f"(P := fun {lean.variable_name(whole.variable)} => {lean.formula(whole.body)})"
            return self.lemma("forall_false_of_instance", motive, value, proof)
        return f"(Exists.intro {value} {proof})"

    def arbitrary(self, known: Sequence[Known], whole: Quantified, constant: App, block: t.Block, part: Formula) -> str:
        name, sort = lean.function_name(constant.function), lean.sort_name(whole.variable.sort)
        shown = self._lambda(name, sort, known, block, part)
        return shown if isinstance(whole, ForAll) else self.lemma("exists_false_of_all", shown)

    def false_of_some(self, quantified: Quantified, proof: str) -> str:
        del quantified  # Lean infers it
        return self.lemma("forall_false_witness", proof)

    def suppose(self, known: Sequence[Known], formula: Formula, block: t.Block, goal: Formula) -> str:
        name, known = self.assume(known, formula)
        return self._lambda(name, lean.formula(formula), known, block, goal)

    def refute(self, known: Sequence[Known], says: Signed, block: t.Block) -> str:
        refuted = self.suppose(known, formula_of(says), block, BOTTOM)
        return refuted if says.sign else self.lemma("not_not_elim", refuted)

    def contradiction(self, negation: str, proof: str) -> str:
        return f"({negation} {proof})"

    def truth(self, true: bool) -> str:
        return "True.intro" if true else "(fun h => h)"

    def reflexivity(self, term: str) -> str:
        return f"(Eq.refl {term})"

    def leibniz(self, law: Formula, equation: Eq) -> str:
        """First the places where A has s and B has t, then those the other way round."""
        hole = App("␣hole", ())
        forward = along_equation(law, hole, equation.right)
        backward = along_equation(law, equation.right, hole)
        motive = f"(motive := fun {lean.function_name(hole.function)} => "
        first = f"(Eq.ndrec {motive}{lean.formula(forward)}) a e)"
        return f"(fun e a => Eq.ndrec {motive}{lean.formula(backward)}) {first} (Eq.symm e))"

    def apply(self, line: t.Apply, given: Sequence[str]) -> str:
        theorem, substitution = line.theorem, line.substitution
        names = lean.pattern_variables(theorem.premises, theorem.conclusion)
        values = {name: self.argument(substitution[name]) for name in names}
        if not is_own(theorem):  # Lean finds the propositions from the premises that they stand in
            uses = [use for part in theorem.premises for use in symbols(part).uses]
            arguments = [f"({name} := {values[name]})" for name in names if (name, ("predicate", 0)) not in uses]
            return self.lemma(theorem.name, *arguments, *given)
        # It stands before the proof, and is applied to all that its statement binds, in that order.
        signature = Signature.infer((*theorem.premises, theorem.conclusion))
        variables = [v for value in substitution.values() if isinstance(value, Lambda) for v in value.variables]
        sort = variables[0].sort if variables else self._signature.sorts[0]
        letters = [values[name] for name in (*signature.predicates, *signature.functions)]
        parts = [own_name(theorem), lean.sort_name(sort), lean.element_name(sort), *letters, *given]
        return f"({' '.join(parts)})"

    def term_text(self, term: Term) -> str:
        return lean.term(term)

    def function(self, variables: Sequence[Var], body: Formula) -> str:
        bound = [f"({lean.variable_name(v)} : {lean.sort_name(v.sort)})" for v in variables]
        return f"(fun {' '.join(bound)} => {lean.formula(body)})" if bound else lean.formula(body)


def own_name(theorem: t.Theorem) -> str:
    """The name of such a theorem where it stands before a proof."""
    return mangle(theorem.name, "t")


def _references(value: object) -> Iterator[int]:
    """The numbers of lines that lines refer to."""
    match value:
        case int():
            yield value
        case tuple():
            for item in value:
                yield from _references(item)
        case msgspec.Struct():
            for field in value.__struct_fields__:
                if field != "theorem":
                    yield from _references(getattr(value, field))
