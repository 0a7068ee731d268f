"""The notations of formulas: texts with one reading, or texts that are refused and why.

``table()`` is the table of ``docs/parsing.md``; ``python -m tests.text.notations`` prints it.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

from proof_r1_formal.errors import ParseError
from proof_r1_formal.text.conventions import NotationName
from proof_r1_formal.text.parse import parse_formula


class Case(NamedTuple):
    """Texts of one notation.

    Attributes:
        notation: in words.
        texts: which have the same meaning.
        reading: the meaning as ``show`` writes it; None if the texts are refused.
        named: the notation that the reader of the texts names.
    """

    notation: str
    texts: tuple[str, ...]
    reading: str | None
    named: NotationName = "auto"


_CASES: tuple[tuple[str, str, str | None, *tuple[NotationName, ...]], ...] = (
    ("¬", r"¬P  ~P  -P  !P  −P  ∼P  ￢P  not P  \neg P  \lnot P  \sim P", "¬P"),
    (
        "∧",
        (
            r"P ∧ Q  P & Q  P && Q  P and Q  P /\ Q  P · Q  P • Q  P ⋅ Q  P ∙ Q  P ⋀ Q  P \land Q  P \wedge Q  "
            r"P \cdot Q  P \& Q"
        ),
        "P ∧ Q",
    ),
    ("⊕", r"P ⊕ Q  P ⊻ Q  P xor Q  P \oplus Q  P \veebar Q", "P ⊕ Q"),
    ("∨", r"P ∨ Q  P | Q  P || Q  P or Q  P \/ Q  P ⋁ Q  P \lor Q  P \vee Q", "P ∨ Q"),
    (
        "→",
        (
            "P → Q  P -> Q  P => Q  P --> Q  P ==> Q  P —> Q  P ⟶ Q  P ⇒ Q  P ⟹ Q  P ⊃ Q  P implies Q  "
            r"P \to Q  P \rightarrow Q  P \Rightarrow Q  P \longrightarrow Q  P \Longrightarrow Q  "
            r"P \implies Q  P \supset Q"
        ),
        "P → Q",
    ),
    ("←", r"P ← Q  P <- Q  P <-- Q  P ⟵ Q  P ⇐ Q  P ⟸ Q  P \leftarrow Q  P \impliedby Q", "Q → P"),
    (
        "↔",
        (
            "P ↔ Q  P <-> Q  P <=> Q  P <--> Q  P <==> Q  P ⟷ Q  P ⇔ Q  P ⟺ Q  P ≡ Q  P iff Q  "
            r"P \leftrightarrow Q  P \Leftrightarrow Q  P \Longleftrightarrow Q  P \equiv Q  P \iff Q"
        ),
        "P ↔ Q",
    ),
    ("negated ↔", "P <~> Q  P ≢ Q  P ⇎ Q  P ↮ Q", "P ⊕ Q"),
    ("⊤", r"⊤ ∧ P  true ∧ P  $true ∧ P  $T ∧ P  \top ∧ P", "⊤ ∧ P"),
    ("⊥", r"⊥ ∨ P  false ∨ P  $false ∨ P  $F ∨ P  \bot ∨ P", "⊥ ∨ P"),
    ("=", "a = b  a == b  (a) = b  (a) = (b)", "a = b"),
    ("=", "f(a) == b  f(a) = b", "f(a) = b"),
    ("=", "f(a) == g(a)  P(a) == Q(a)", None),
    ("=", "∀x (P(x) = Q(x)) ∧ P(a)  (and (P a) (= (P a) (Q a)))  p ∧ p = q", None),
    ("≠", r"a ≠ b  a != b  a \neq b  a \ne b  ¬(a = b)", "¬(a = b)"),
    (
        "∀",
        (
            r"∀x P(x)  forall x P(x)  all x P(x)  \forall x P(x)  ∀x. P(x)  ∀x, P(x)  ∀x: (P(x))  (∀x) P(x)  "
            "(∀x)(P(x))  ∀x [P(x)]  ∀x {P(x)}  ForAll(x, P(x))  ![x]: P(x)"
        ),
        "∀x P(x)",
    ),
    (
        "∃",
        (
            r"∃x P(x)  exists x P(x)  some x P(x)  \exists x P(x)  ∃x. P(x)  (∃x)P(x)  Exists(x, P(x))  "
            "?[x]: P(x)"
        ),
        "∃x P(x)",
    ),
    ("∄", r"∄x P(x)  \nexists x P(x)  ¬∃x P(x)", "¬∃x P(x)"),
    ("exactly one", r"∃!x P(x)  ∃! x, P(x)  exists! x. P(x)  \exists! x P(x)", "∃x1 ∀x (P(x) ↔ x = x1)"),
    ("exactly one", "∃!x y. R(x, y)", None),
    (
        "several variables",
        (
            "∀x ∀y R(x, y)  ∀x y. R(x, y)  ∀x y, R(x, y)  ∀x, y, R(x, y)  (∀x)(∀y)R(x, y)  (∀x ∀y)(R(x, y))  "
            "ForAll(x, y, R(x, y))  ForAll([x, y], R(x, y))  ![x, y]: R(x, y)"
        ),
        "∀x ∀y R(x, y)",
    ),
    ("several variables", "∀x y R(x, y)  ∀x, y R(x, y)", None),
    ("several variables", "∀x, y (P(x))  ∃x y (P(x))  ∀x y z (P(x))  ∀x y P x", None),
    ("several variables", "∀ x, p (f x)  ∀x. p (f x)  ∀x p(f(x))", "∀x p(f(x))", "lean"),
    ("several variables", "∀x. y (P(x))  ![x]: y (P(x))  ∀x (y (P(x)))", "∀x y(P(x))"),
    ("a sort", "∀x:U P(x)  ∀ x : U, P(x)  ∀ (x : U), P(x)  (∀x:U)(P(x))  (forall ((x U)) (P x))", "∀x:U P(x)"),
    (
        "a sort",
        "∀ x y : U, R(x, y)  forall x y : U, R(x, y)  ∀ (x y : U), R(x, y)  ∀ (x : U) (y : U), R(x, y)",
        "∀x:U ∀y:U R(x, y)",
    ),
    ("a sort", "∀x, y:U. R(x, y)", None),
    ("such that", "∃x: ¬P(x) ∧ Q(x)  ∃x: (¬P(x) ∧ Q(x))", "∃x (¬P(x) ∧ Q(x))"),
    ("a call", "And(P, Q, R)  and(P, Q, R)  P ∧ Q ∧ R", "P ∧ Q ∧ R"),
    ("a call", "Or(Not(P), Q)  ¬P ∨ Q", "¬P ∨ Q"),
    ("a call", "ForAll(x, Implies(P(x), Q(x)))  ∀x Implies(P(x), Q(x))", "∀x (P(x) → Q(x))"),
    ("a call", "ForAll(x, P(x) → A)", "∀x (P(x) → A)"),
    ("a call", "Iff(P, Xor(Q, R))", "P ↔ Q ⊕ R"),
    ("a call", "Xor(P, Q, R)  Implies(P, Q, R)", None),
    ("a call", "And(P)", None),
    ("a call", "ForAll(tom, P(ann))  Exists(tom)", None),
    ("brackets", "[P ∨ Q] ∧ R  {P ∨ Q} ∧ R  (P ∨ Q) ∧ R  （P ∨ Q） ∧ R", "(P ∨ Q) ∧ R"),
    ("brackets", "[P ∨ Q)", None),
    ("brackets", "P[a]", None),
    ("brackets", "P(a, [b, c])  P({b, c})", None),
    ("LaTeX", r"$P \land Q$  $$P \land Q$$  \(P \land Q\)  \[P \land Q\]", "P ∧ Q"),
    (
        "LaTeX",
        (
            r"\forall x \left( P(x) \to Q(x) \right)  \forall x\, \bigl[ P(x) \to Q(x) \bigr]  "
            r"\forall x \quad \{ P(x) \to Q(x) \}  \forall x (\text{P}(x) \to \mathrm{Q}(x))"
        ),
        "∀x (P(x) → Q(x))",
    ),
    ("LaTeX", r"\text{is a cat}(x_{1})  \textit{is a cat}(x\_1)  \operatorname{is a cat}(x_1)", '"is a cat"(x_1)'),
    ("LaTeX", r"P \text{ and } Q", "P ∧ Q"),
    ("LaTeX", r"P(x) \text{ for all } x  P \text{ if } Q", None),
    ("application", "P(a, f(b))  P a (f b)  P (a, f(b))  P（a，f（b））", "P(a, f(b))"),
    ("S-expressions", "(forall x (-> (P x) (and (Q x) R S)))", "∀x (P(x) → Q(x) ∧ R ∧ S)"),
    (
        "names in quotes",
        "\"is a cat\"(tom)  'is a cat'(tom)  ‘is a cat’(tom)  “is a cat”(tom)  „is a cat“(tom)  «is a cat»(tom)",
        '"is a cat"(tom)',
    ),
    ("names in quotes", 'likes(tom, “ice cream")  likes(tom, `ice cream`)  likes(tom, ‘ice cream)  ’a’(tom)', None),
    ("names in quotes", "“P(a)” → Q  P(a) “as said”  likes tom “ice cream”  ‘cats’ toys’(tom)", None),
    ("names in quotes", "born(a, '1990-01-01')  born(a, \"1990-01-01\")  born(a, 1990-01-01)", "born(a, 1990-01-01)"),
    ("names in quotes", "tom 'the cat' ann  P(a) 'as said'  'P(a)' → Q", None),
    ("numbers", "P(-1)  P(−1)", 'P("-1")'),
    ("numbers", "-1 = a", None),
    ("numbers", "x <-1  P <- 1", None),
    ("numbers", r"a · b = c  c = f(a) \cdot b", None),
    ("numbers", "(∃x)(Fx · x = a)", "∃x (F(x) ∧ x = a)", "textbook"),
    ("numbers", "Pop(a, 1,000)", None),
    ("`+` at the end", "likes(tom, c++)", 'likes(tom, "c++")'),
    ("letters of any script", "Schrödinger(a)  Schro\u0308dinger(a)", "Schrödinger(a)"),
    ("letters of any script", "नमस्ते(a)", "नमस्ते(a)"),
    ("primes", "∀x' P(x')  ∀x′ P(x′)", "∀x' P(x')"),
    ("chains of ⊕ (an odd number holds)", "a ⊕ b ⊕ c", "a ⊕ b ⊕ c"),
    ("chains of →", "P → Q → R", None),
    ("chains of →", "P → Q → R", "P → (Q → R)", "lean"),
    ("chains of →", "P → Q → R", "(P → Q) → R", "nltk"),
    ("scope of ∀x", "∀x P(x) ∧ A  (∀x P(x)) ∧ A", "(∀x P(x)) ∧ A"),
    ("scope of ∀x", "∀x P(x) → Q(x)", "∀x (P(x) → Q(x))"),
    ("scope of ∃x", "∃x. P(x) → A  (∃x)P(x) → A", None),
    ("scope of ∃x", "∃x. P(x) → A  ∃ x, P(x) → A", "∃x (P(x) → A)", "lean"),
    ("scope of ∃x", "exists x. P(x) -> A", "(∃x P(x)) → A", "nltk"),
    ("scope of ∃x", "exists x P(x) -> A", "(∃x P(x)) → A", "prover9"),
    ("scope of ∃x", "?[X]: p(X) => a", "(∃X p(X)) → a", "tptp"),
    ("scope of ∃x", "(∃x)Px ⊃ A", "(∃x P(x)) → A", "textbook"),
    ("scope of ∃x", "(∀x)(Px) ⊃ Qx", None, "textbook"),
    ("textbook atoms", "∀x Fx  ∀x∃y Rxy", None),
    ("textbook atoms", "(x)(Fx ⊃ ∃y Rxy · Gab)", "∀x (F(x) → (∃y R(x, y)) ∧ G(a, b))", "textbook"),
    ("∀ without sign", "(x)(P(x) ⊃ Q(x))", None),
    ("∀ without sign", "(x)(P(x) ⊃ Q(x))", "∀x (P(x) → Q(x))", "textbook"),
    ("<=", "p <= q", None),
    ("<=", "p <= q", "q → p", "tptp"),
    ("variables without ∀", "p(X)", None, "tptp"),
    ("variables without ∀", "p(x)", None, "prover9"),
    ("comparison", "y > 9  y ∈ s", None),
    ("≡ of terms", "a ≡ b ∧ P(a)", None),
    ("≡ of terms", "a ≢ b ∧ P(a)", None),
    ("a letter for ∨", "PvQ  (PvQ) → R", None),
    ("a letter for ∨", "FavGb", None, "textbook"),
    ("⊢", "P |- Q  P(a)|-Q(a)", None),
    ("⊢", "p(a)|-q(a)", "p(a) ∨ ¬q(a)", "prover9"),
    ("a dash before an equation", "-a = b  -f(a) != b", None),
    ("a dash before an equation", "-(a = b)  ¬a = b", "¬(a = b)"),
    ("functions", "fun x => P x", None),
    ("list markers", "1. P(a)", None),
    ("list markers", "- P(a)", None),
)
"""In words, texts with two blanks between them, the reading, and the named notation where there is one."""
CASES = tuple(Case(notation, tuple(texts.split("  ")), reading, *named) for notation, texts, reading, *named in _CASES)


def refusal(text: str, named: NotationName) -> str:
    """What is wrong with a text."""
    try:
        return f"but read as {parse_formula(text, notation=named)}"
    except ParseError as error:
        return error.problem


def table() -> str:
    """The table of ``docs/parsing.md``."""
    lines = ["| notation | text | reading |", "|---|---|---|"]
    for case in CASES:
        label = case.notation if case.named == "auto" else f'{case.notation}, `notation="{case.named}"`'
        texts = " · ".join([f"`{text}`" for text in case.texts])
        reading = f"`{case.reading}`" if case.reading else f"refused: {refusal(case.texts[0], case.named)}"
        cells = [cell.replace("|", "\\|") for cell in (label, texts, reading)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
