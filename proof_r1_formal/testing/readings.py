"""Texts with two plausible readings, each with the place of the error and the two readings, spelled clearly.

For tests of parsers: a strict parser of the notations rejects every text, and reads the two spellings as two formulas
(None: that reading is prose, or is not a formula).
"""

from __future__ import annotations

from typing import NamedTuple


class TwoReadings(NamedTuple):
    """A text that must be rejected.

    Attributes:
        text: what a person might read in two ways.
        offset: of the place that the error points at.
        first, second: spellings of the two readings; None if it is not a formula.
    """

    text: str
    offset: int
    first: str | None
    second: str | None


TWO_READINGS = tuple(
    TwoReadings(*case)
    for case in (
        # a reserved word with a hyphen, a dot or a quote right behind it
        ("not-guilty(tom)", 0, '"not-guilty"(tom)', "not guilty(tom)"),
        ("NOT-guilty(tom)", 0, '"NOT-guilty"(tom)', "not guilty(tom)"),
        ("P(a) and-Q(b)", 5, 'P(a) and "-Q"(b)', "P(a) and not Q(b)"),
        ("rains → not-cold", 8, 'rains → "not-cold"', "rains → not cold"),
        ("true-blue(tom)", 0, '"true-blue"(tom)', None),
        ("(not-guilty tom)", 1, '("not-guilty" tom)', "(not (guilty tom))"),
        # a reserved word as the name of a predicate
        ("forall(x)", 0, '"forall"(x)', None),
        ("rains ∧ All", 8, 'rains ∧ "All"', None),
        ("likes tom all", 10, "likes(tom, all)", None),
        ("some(a) ∨ P(a)", 0, '"some"(a) ∨ P(a)', None),
        # a variable and something glued to it
        ("∀xCat(x)", 1, '∀"xCat" x', "∀x Cat(x)"),
        ("∀xy (likes(x, y))", 1, '∀"xy" likes(x, y)', "∀x ∀y likes(x, y)"),
        ("P(a) ∧ ∀xCat(a)", 8, 'P(a) ∧ ∀"xCat" a', 'P(a) ∧ ∀"x" Cat(a)'),
        ("forall al rains", 7, 'forall "al" rains', None),
        ("all birds land", 4, 'all "birds" land', None),
        # one more variable, or a predicate
        ("∀x y P(x, y)", 3, "∀x y(P(x, y))", "∀x y. P(x, y)"),
        ("∀x, y P(x, y)", 4, "∀x, y(P(x, y))", "∀x, y. P(x, y)"),
        ("∀x y (P(x, y))", 3, "∀x y(P(x, y))", "∀x y. (P(x, y))"),
        ("all x y P x y", 6, "all x y(P, x, y)", "all x y. P x y"),
        # a variable of two quantifiers, one in the scope of the other
        ("∀x (∃x P(x) → Q(x))", 4, '∀"x" ∃x (P(x) → Q(x))', "∀x ((∃x P(x)) → Q(x))"),
        ("∀x ∃x:S (P(x)) ∧ Q(x)", 3, '∀"x" ∃x:S ((P(x)) ∧ Q(x))', "∀x ((∃x:S (P(x))) ∧ Q(x))"),
        ("∀x (P(x) ∧ ¬∃x (Q(x)) ∧ R(x))", 12, "∀x (P(x) ∧ ¬∃x. (Q(x)) ∧ R(x))", "∀x (P(x) ∧ ¬(∃x Q(x)) ∧ R(x))"),
        # a letter that looks like a connective
        ("p v q", 2, "p(v, q)", "p ∨ q"),
        ("cat tom V dog tom", 8, "cat(tom, V, dog, tom)", "cat tom ∨ dog tom"),
        ("P(a) v Q(b)", 5, "P(a) ∧ v(Q(b))", "P(a) ∨ Q(b)"),
        ("p Λ q", 2, 'p "Λ" q', "p ∧ q"),
        # an application beside another one
        ("James goes_to_park(x)", 6, "James(goes_to_park(x))", "James ∧ goes_to_park(x)"),
        ("likes tom mother(tom)", 10, "likes tom (mother(tom))", "likes tom ∧ mother(tom)"),
        (
            "located(Beijing, Northern China)",
            17,
            "located(Beijing, Northern(China))",
            'located(Beijing, "Northern China")',
        ),
        ("P(a b)", 2, "P(a(b))", 'P("a b")'),
        ("mother tom = ann", 0, "mother(tom) = ann", '"mother tom" = ann'),
        ("ann = mother tom", 6, "ann = mother(tom)", 'ann = "mother tom"'),
        ("Cat (x) Dog (x)", 8, "Cat(x, Dog, x)", "Cat (x) ∧ Dog (x)"),
        ("Cat (f x) Dog (x)", 10, "Cat(f(x), Dog, x)", "Cat (f x) ∧ Dog (x)"),
        ("Cat (x) rains", 8, "Cat(x, rains)", "Cat (x) ∧ rains"),
        ("P (a) (b)", 6, "P(a, b)", "P (a) ∧ (b)"),
        ("∀x in Cats (P(x))", 3, "∀x in(Cats, P(x))", "∀x (Cats(x) → P(x))"),
        # infix notation inside prefix notation
        ("(and P(a) Q(b))", 5, "(and (P a) (Q b))", "(and P a Q b)"),
        ("(and P (a) Q (b))", 5, "(and (P a) (Q b))", "(and P a Q b)"),
        ("(and (not-guilty tom) P)", 6, '(and ("not-guilty" tom) P)', "(and (not (guilty tom)) P)"),
        ("(or (P x) (not Q(x)))", 15, "(or (P x) (not (Q x)))", None),
        # prose
        ("Neofonie doesn't speak English or German", 9, "Neofonie(doesn't, speak, English) or German", None),
        ("Bobby Flynn is an Australian citizen", 12, "Bobby(Flynn, is, an, Australian, citizen)", None),
        ("Every cat sleeps", 0, '"Every" cat sleeps', None),
        ("If raining(x) then wet(x)", 0, '"If"(raining(x))', None),
        ("PiersonCollege in Yale", 15, "PiersonCollege(in, Yale)", None),
        # notations differ in the scope of a quantifier
        (
            "exists y. (Child(john, y)) -> Wedding(john)",
            0,
            "∃y (Child(john, y) → Wedding(john))",
            "(∃y Child(john, y)) → Wedding(john)",
        ),
        ("all x.P(x) -> Q(a)", 0, "∀x (P(x) → Q(a))", "(∀x P(x)) → Q(a)"),
        ("∀x, P(x) ↔ A", 0, "∀x (P(x) ↔ A)", "(∀x P(x)) ↔ A"),
        ("∃x P(x) → A", 0, "∃x (P(x) → A)", "(∃x P(x)) → A"),
        ("A ∧ (¬∃x P(x) ∧ B)", 6, "A ∧ ¬∃x (P(x) ∧ B)", "A ∧ ¬(∃x P(x)) ∧ B"),
        ("∃x:P(tom) ∧ Q(x)", 0, "∃x:P ((tom) ∧ Q(x))", "∃x (P(tom) ∧ Q(x))"),
        ("∀x:Person(loves(x, rome))", 0, "∀x:Person (loves(x, rome))", "∀x Person(loves(x, rome))"),
        # and in the grouping of →
        ("A -> B -> C", 10, "A → (B → C)", "(A → B) → C"),
        ("∀x (P(x) → Q(x) → R(x))", 18, "∀x (P(x) → (Q(x) → R(x)))", "∀x ((P(x) → Q(x)) → R(x))"),
        ("P ^ Q", 2, "P ⊕ Q", "P ∧ Q"),
        # a variable that does not occur, or an atom that may contain it
        ("∃x Fx", 3, "∃x F(x)", '∃"x" "Fx"'),
        ("∀x∃y Rxy", 5, "∀x ∃y R(x, y)", '∀"x" ∃"y" "Rxy"'),
        ("∀x (P(x) → Qx)", 11, "∀x (P(x) → Q(x))", '∀x (P(x) → "Qx")'),
        ("∃x Fxa", 1, "∃x F(x, a)", '∃"x" Fxa'),
        ("∀X (cat(x) → dog(x))", 1, "∀x (cat(x) → dog(x))", '∀"X" (cat(x) → dog(x))'),
        ("∀x cat(𝑥)", 1, "∀x cat(x)", '∀"x" cat("𝑥")'),
        ("∀х P(x)", 1, "∀x P(x)", '∀"х" P(x)'),
        ("∀x (Cat(y) → Dog(y))", 1, "∀y (Cat(y) → Dog(y))", '∀"x" (Cat(y) → Dog(y))'),
        # a constant that looks like a variable
        ("∀X (P(X) → Q(x))", 13, "∀X (P(X) → Q(X))", '∀X (P(X) → Q("x"))'),
        ("∀x (P(x) → Q(𝑥))", 13, "∀x (P(x) → Q(x))", '∀x (P(x) → Q("𝑥"))'),
        ("∀x (P(x) → Q(x-1))", 13, None, '∀x (P(x) → Q("x-1"))'),
        ("∀x (P(x) → Q(x.age))", 13, "∀x (P(x) → Q(age(x)))", '∀x (P(x) → Q("x.age"))'),
        ("∀x (P(x) → Q(x'))", 13, "∀x ∀x' (P(x) → Q(x'))", """∀x (P(x) → Q("x'"))"""),
        ("P(tom) → Ｐ(tom)", 9, "P(tom) → P(tom)", 'P(tom) → "Ｐ"(tom)'),
        ("P(tom) → P(tоm)", 11, "P(tom) → P(tom)", 'P(tom) → P("tоm")'),
        # a word for a connective or a quantifier
        ("(forall (x) (if (Human x) (Mortal x)))", 13, "∀x (Human(x) → Mortal(x))", '∀x "if"(Human(x), Mortal(x))'),
        ("(ite P Q R)", 1, "(P → Q) ∧ (¬P → R)", '("ite" P Q R)'),
        ("equiv(P(a), Q(a))", 0, "P(a) ↔ Q(a)", '"equiv"(P(a), Q(a))'),
        ("Equivalent(p, q)", 0, "p ↔ q", '"Equivalent"(p, q)'),
        ("NAND(p, q)", 0, "¬(p ∧ q)", '"NAND"(p, q)'),
        ("neg(P(a))", 0, "¬P(a)", '"neg"(P(a))'),
        ("p IF q", 2, "q → p", "p(IF, q)"),
        ("p unless q", 2, "¬q → p", "p(unless, q)"),
        ("p land q", 2, "p ∧ q", "p(land, q)"),
        ("EX x", 0, None, '"EX" x'),
        ("Ǝx", 0, None, '"Ǝx"'),
        ("Ǝx(P(x))", 0, "∃x P(x)", '"Ǝx"(P(x))'),
        ("Ax(P(x))", 0, "∀x P(x)", '"Ax"(P(x))'),
        ("p ⅴ q", 2, "p ∨ q", 'p "ⅴ" q'),
        # characters that join or divide names
        ("P \to Q", 2, "P → Q", "P o Q"),
        ("A ∧ \neg B", 4, "A ∧ ¬B", "A ∧ eg B"),
        ("P\nQ", 2, "P ∧ Q", "P Q"),
        ("!x.P(x)", 1, "∀x P(x)", '¬"x.P"(x)'),
        ("∀x (P(x) → x.Q(x))", 11, "∀x (P(x) → Q(x))", '∀x (P(x) → "x.Q"(x))'),
        ("P.Q", 0, "P ∧ Q", '"P.Q"'),
        ("_|_", 0, "⊥", '"_" ∨ "_"'),
        ("Pop(a, 1,000)", 7, 'Pop(a, "1,000")', "Pop(a, 1, 000)"),
        ("AT&T(x)", 0, '"AT&T"(x)', "AT ∧ T(x)"),
        ("∃x (f(x)) = x → A", 0, "∃x (f(x) = x → A)", "(∃x f(x) = x) → A"),
        # signs of several notations
        ("∃!x y. R(x, y)", 0, "∃!x ∃!y R(x, y)", None),
        ("∀x, y:S. R(x, y)", 0, "∀x ∀y:S R(x, y)", "∀x:S ∀y:S R(x, y)"),
        ("Implies(P, Q, R)", 0, "P → (Q → R)", "(P → Q) → R"),
        ("Xor(P, Q, R)", 0, "P ⊕ Q ⊕ R", "P ∧ ¬Q ∧ ¬R ∨ ¬P ∧ Q ∧ ¬R ∨ ¬P ∧ ¬Q ∧ R"),
        ("And(∀x p, q)", 4, '(∀"x" p) ∧ q', None),
        ("(x)(P(x) ⊃ Q(x))", 1, "∀x (P(x) → Q(x))", None),
        ("-1 = a", 0, '"-1" = a', "¬(1 = a)"),
        ("p <= q", 2, "q → p", "at_most(p, q)"),
        ("x <-1", 2, "1 → x", 'less(x, "-1")'),
        ("a · b = c", 2, "a ∧ b = c", "times(a, b) = c"),
        ("p·q", 1, "p ∧ q", '"p·q"'),
        ("'P(a)' → Q", 0, '"P(a)" → Q', "P(a) → Q"),
        ("tom 'the cat' ann", 4, 'tom "the cat" ann', None),
        (r"P(a) \text{ for sure}", 5, None, "P(a)"),
        # list markers
        ("- P(a)", 0, "¬P(a)", "P(a)"),
        ("− P(a)", 0, "¬P(a)", "P(a)"),
        ("1. P(a)", 0, "P(a)", None),
        ("1) P(a)", 0, "P(a)", None),
        ("A) green_book == 2", 0, "green_book == 2", None),
        ("(a) P(b)", 0, "P(b)", None),
        ("• ∀x P(x)", 0, "∀x P(x)", None),
    )
)
