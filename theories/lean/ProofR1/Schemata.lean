module
public import ProofR1.Logic
/-!
The schemata of the rule systems, one theorem each: first the principal premises, then the minor ones. The package
renders its own schemata in this shape and has the kernel compare the two (`proof-r1 theories check`). Above each
theorem stands its rule, and what it says in the notation of the package.
-/
@[expose] public section
namespace ProofR1

section Propositional
variable {A B X Y : Prop}

/-! IMPLICATION_ELIMINATION -/
/-- IMPLICATION_ELIMINATION: from A → B and A, conclude B. -/
theorem implication_elimination (h : A → B) (a : A) : B := h a

/-! MODUS_TOLLENS, and what the negated antecedent consists of -/
/-- MODUS_TOLLENS: from A → B and ¬B, conclude ¬A. -/
theorem modus_tollens (h : A → B) (n : Not B) : Not A := fun a => n (h a)
/-- MODUS_TOLLENS: from X ∨ Y → B and ¬B, conclude ¬X. -/
theorem modus_tollens_or (h : Or X Y → B) (n : Not B) : Not X := fun x => n (h (.inl x))
/-- MODUS_TOLLENS: from X ∧ Y → B, ¬B and X, conclude ¬Y. -/
theorem modus_tollens_and (h : And X Y → B) (n : Not B) (x : X) : Not Y := fun y => n (h ⟨x, y⟩)
/-- MODUS_TOLLENS: from ¬(X ∧ Y) → B and ¬B, conclude X. -/
theorem modus_tollens_not_and (h : Not (And X Y) → B) (n : Not B) : X := (not_not_elim (modus_tollens h n)).left
/-- MODUS_TOLLENS: from (X → Y) → B and ¬B, conclude X. -/
theorem modus_tollens_implies_left (h : (X → Y) → B) (n : Not B) : X := implies_false_left (modus_tollens h n)
/-- MODUS_TOLLENS: from (X → Y) → B and ¬B, conclude ¬Y. -/
theorem modus_tollens_implies_right (h : (X → Y) → B) (n : Not B) : Not Y := implies_false_right (modus_tollens h n)
/-- MODUS_TOLLENS: from X ⊕ Y → B, ¬B and X, conclude Y. -/
theorem modus_tollens_xor_left (h : Xor X Y → B) (n : Not B) (x : X) : Y :=
  xor_false_right_of_true (modus_tollens h n) x
/-- MODUS_TOLLENS: from X ⊕ Y → B, ¬B and Y, conclude X. -/
theorem modus_tollens_xor_right (h : Xor X Y → B) (n : Not B) (y : Y) : X :=
  xor_false_left_of_true (modus_tollens h n) y
/-- MODUS_TOLLENS: from X ⊕ Y → B, ¬B and ¬X, conclude ¬Y. -/
theorem modus_tollens_xor_not_left (h : Xor X Y → B) (n : Not B) (m : Not X) : Not Y :=
  xor_false_right_of_false (modus_tollens h n) m
/-- MODUS_TOLLENS: from X ⊕ Y → B, ¬B and ¬Y, conclude ¬X. -/
theorem modus_tollens_xor_not_right (h : Xor X Y → B) (n : Not B) (m : Not Y) : Not X :=
  xor_false_left_of_false (modus_tollens h n) m

/-! EXCLUSIVE_DISJUNCTION_INTRODUCTION -/
/-- EXCLUSIVE_DISJUNCTION_INTRODUCTION: from A and ¬B, conclude A ⊕ B. -/
theorem xor_introduction_left (a : A) (n : Not B) : Xor A B := xor_of_true_false a n
/-- EXCLUSIVE_DISJUNCTION_INTRODUCTION: from ¬A and B, conclude A ⊕ B. -/
theorem xor_introduction_right (n : Not A) (b : B) : Xor A B := xor_of_false_true n b
/-- EXCLUSIVE_DISJUNCTION_INTRODUCTION: from A and ¬B, conclude ¬(A ↔ B). -/
theorem not_iff_introduction_left (a : A) (n : Not B) : Not (Iff A B) := iff_of_true_false a n

/-! EXCLUSIVE_DISJUNCTION_ELIMINATION -/
/-- EXCLUSIVE_DISJUNCTION_ELIMINATION: from A ⊕ B and A, conclude ¬B. -/
theorem xor_elimination_left (h : Xor A B) (a : A) : Not B := xor_true_right_of_true h a
/-- EXCLUSIVE_DISJUNCTION_ELIMINATION: from A ⊕ B and ¬A, conclude B. -/
theorem xor_elimination_not_left (h : Xor A B) (n : Not A) : B := xor_true_right_of_false h n
/-- EXCLUSIVE_DISJUNCTION_ELIMINATION: from A ⊕ B and B, conclude ¬A. -/
theorem xor_elimination_right (h : Xor A B) (b : B) : Not A := xor_true_left_of_true h b
/-- EXCLUSIVE_DISJUNCTION_ELIMINATION: from A ⊕ B and ¬B, conclude A. -/
theorem xor_elimination_not_right (h : Xor A B) (n : Not B) : A := xor_true_left_of_false h n
/-- EXCLUSIVE_DISJUNCTION_ELIMINATION: from ¬(A ⊕ B) and A, conclude B. -/
theorem not_xor_elimination_left (h : Not (Xor A B)) (a : A) : B := xor_false_right_of_true h a
/-- EXCLUSIVE_DISJUNCTION_ELIMINATION: from ¬(A ⊕ B) and ¬A, conclude ¬B. -/
theorem not_xor_elimination_not_left (h : Not (Xor A B)) (n : Not A) : Not B := xor_false_right_of_false h n
/-- EXCLUSIVE_DISJUNCTION_ELIMINATION: from ¬(A ⊕ B) and B, conclude A. -/
theorem not_xor_elimination_right (h : Not (Xor A B)) (b : B) : A := xor_false_left_of_true h b
/-- EXCLUSIVE_DISJUNCTION_ELIMINATION: from ¬(A ⊕ B) and ¬B, conclude ¬A. -/
theorem not_xor_elimination_not_right (h : Not (Xor A B)) (n : Not B) : Not A := xor_false_left_of_false h n

/-- EXCLUSIVE_DISJUNCTION_ELIMINATION: from ¬(A ↔ B) and A, conclude ¬B. -/
theorem not_iff_elimination (h : Not (Iff A B)) (a : A) : Not B := iff_false_right_of_true h a
/-- EXCLUSIVE_DISJUNCTION_ELIMINATION: from ¬(A ↔ B) and ¬A, conclude B. -/
theorem not_iff_elimination_not (h : Not (Iff A B)) (n : Not A) : B := iff_false_right_of_false h n

/-! DISJUNCTIVE_SYLLOGISM, CONJUNCTION_INTRODUCTION, CONJUNCTION_ELIMINATION, GOAL_BINDING -/
/-- DISJUNCTIVE_SYLLOGISM: from A ∨ B and ¬A, conclude B. -/
theorem disjunctive_syllogism (h : Or A B) (n : Not A) : B := or_true_right_of_false h n
/-- DISJUNCTIVE_SYLLOGISM: from ¬(A ∧ B) and A, conclude ¬B. -/
theorem disjunctive_syllogism_not_and (h : Not (And A B)) (a : A) : Not B := and_false_right_of_true h a
/-- CONJUNCTION_INTRODUCTION: from A and B, conclude A ∧ B. -/
theorem conjunction_introduction (a : A) (b : B) : And A B := ⟨a, b⟩
/-- CONJUNCTION_INTRODUCTION: from A → B and B → A, conclude A ↔ B. -/
theorem conjunction_introduction_iff (h : A → B) (k : B → A) : Iff A B := ⟨h, k⟩
/-- CONJUNCTION_ELIMINATION: from A ∧ B, conclude A. -/
theorem conjunction_elimination (h : And A B) : A := h.left
/-- CONJUNCTION_ELIMINATION: from ¬(A ∨ B), conclude ¬A. -/
theorem conjunction_elimination_not_or (h : Not (Or A B)) : Not A := or_false_left h
/-- CONJUNCTION_ELIMINATION: from ¬(A → B), conclude A. -/
theorem conjunction_elimination_not_implies_left (h : Not (A → B)) : A := implies_false_left h
/-- CONJUNCTION_ELIMINATION: from ¬(A → B), conclude ¬B. -/
theorem conjunction_elimination_not_implies_right (h : Not (A → B)) : Not B := implies_false_right h
/-- CONJUNCTION_ELIMINATION: from A ↔ B, conclude A → B. -/
theorem conjunction_elimination_iff (h : Iff A B) (a : A) : B := h.mp a
/-- GOAL_BINDING: from A, conclude A. -/
theorem goal_binding (a : A) : A := a
end Propositional

section Quantified
variable {D : Type}

/-! MODUS_TOLLENS, where the antecedent is quantified -/
/-- MODUS_TOLLENS: from (∃x A(x)) → G and ¬G, conclude ¬A(t). -/
theorem modus_tollens_exists {A : D → Prop} {G : Prop} {t : D} (h : (Exists fun x => A x) → G) (n : Not G) :
    Not (A t) := exists_false_instance (modus_tollens h n) t
/-- MODUS_TOLLENS: from ¬(∀x A(x)) → G and ¬G, conclude A(t). -/
theorem modus_tollens_not_forall {A : D → Prop} {G : Prop} {t : D} (h : Not (∀ x, A x) → G) (n : Not G) : A t :=
  not_not_elim (modus_tollens h n) t

/-! UNIVERSAL_ELIMINATION -/
/-- UNIVERSAL_ELIMINATION: from ∀x A(x), conclude A(t). -/
theorem universal_elimination {A : D → Prop} {t : D} (h : ∀ x, A x) : A t := h t
/-- UNIVERSAL_ELIMINATION: from ¬∃x A(x), conclude ¬A(t). -/
theorem universal_elimination_not_exists {A : D → Prop} {t : D} (h : Not (Exists fun x => A x)) : Not (A t) :=
  exists_false_instance h t

/-! UNIVERSAL_IMPLICATION_CHAINING, UNIVERSAL_PROPOSITIONAL_INFERENCE -/
/-- UNIVERSAL_IMPLICATION_CHAINING: from ∀x (A(x) → B(x)) and ∀x (B(x) → C(x)), conclude ∀x (A(x) → C(x)). -/
theorem universal_implication_chaining {A B C : D → Prop} (h : ∀ x, A x → B x) (k : ∀ x, B x → C x) :
    ∀ x, A x → C x := fun x a => k x (h x a)
/-- UNIVERSAL_IMPLICATION_CHAINING: from ∀x (A(x) ↔ B(x)) and ∀x (B(x) → C(x)), conclude ∀x (A(x) → C(x)). -/
theorem universal_implication_chaining_iff_first {A B C : D → Prop} (h : ∀ x, Iff (A x) (B x)) (k : ∀ x, B x → C x) :
    ∀ x, A x → C x := fun x a => k x ((h x).mp a)
/-- UNIVERSAL_IMPLICATION_CHAINING: from ∀x (A(x) → B(x)) and ∀x (B(x) ↔ C(x)), conclude ∀x (A(x) → C(x)). -/
theorem universal_implication_chaining_iff_second {A B C : D → Prop} (h : ∀ x, A x → B x) (k : ∀ x, Iff (B x) (C x)) :
    ∀ x, A x → C x := fun x a => (k x).mp (h x a)
/-- UNIVERSAL_IMPLICATION_CHAINING: from ∀x (A(x) ↔ B(x)) and ∀x (B(x) ↔ C(x)), conclude ∀x (A(x) ↔ C(x)). -/
theorem universal_implication_chaining_iff {A B C : D → Prop} (h : ∀ x, Iff (A x) (B x)) (k : ∀ x, Iff (B x) (C x)) :
    ∀ x, Iff (A x) (C x) := fun x => ⟨fun a => (k x).mp ((h x).mp a), fun c => (h x).mpr ((k x).mpr c)⟩
/-- UNIVERSAL_IMPLICATION_CHAINING: from ∀x ∀y (A(x, y) → B(x, y)) and ∀x ∀y (B(x, y) → C(x, y)), conclude ∀x ∀y (A(x, y) → C(x, y)). -/
theorem universal_implication_chaining_two {A B C : D → D → Prop} (h : ∀ x, ∀ y, A x y → B x y)
    (k : ∀ x, ∀ y, B x y → C x y) : ∀ x, ∀ y, A x y → C x y := fun x y a => k x y (h x y a)
/-- UNIVERSAL_PROPOSITIONAL_INFERENCE: from ∀x (A(x) → B(x)) and ∀x (A(x) → C(x)), conclude ∀x (A(x) → B(x) ∧ C(x)). -/
theorem universal_propositional_inference {A B C : D → Prop} (h : ∀ x, A x → B x) (k : ∀ x, A x → C x) :
    ∀ x, A x → And (B x) (C x) := fun x a => ⟨h x a, k x a⟩
/-- UNIVERSAL_PROPOSITIONAL_INFERENCE: from ∀x (A(x) → C(x)) and ∀x (B(x) → C(x)), conclude ∀x (A(x) ∨ B(x) → C(x)). -/
theorem universal_propositional_inference_or {A B C : D → Prop} (h : ∀ x, A x → C x) (k : ∀ x, B x → C x) :
    ∀ x, Or (A x) (B x) → C x := fun x e => e.elim (h x) (k x)
/-- UNIVERSAL_PROPOSITIONAL_INFERENCE: from ∀x ∀y (A(x, y) → B(x, y)) and ∀x ∀y (A(x, y) → C(x, y)), conclude ∀x ∀y (A(x, y) → B(x, y) ∧ C(x, y)). -/
theorem universal_propositional_inference_two {A B C : D → D → Prop} (h : ∀ x, ∀ y, A x y → B x y)
    (k : ∀ x, ∀ y, A x y → C x y) : ∀ x, ∀ y, A x y → And (B x y) (C x y) := fun x y a => ⟨h x y a, k x y a⟩

/-! EXISTENTIAL_INTRODUCTION, EXISTENTIAL_CONJUNCTION_ELIMINATION, EXISTENTIAL_IMPLICATION_ELIMINATION,
EXISTENTIAL_CONJUNCTION_INTRODUCTION -/
/-- EXISTENTIAL_INTRODUCTION: from A(t), conclude ∃x A(x). -/
theorem existential_introduction {A : D → Prop} {t : D} (a : A t) : Exists fun x => A x := ⟨t, a⟩
/-- EXISTENTIAL_CONJUNCTION_ELIMINATION: from ∃x (A(x) ∧ B(x)), conclude ∃x A(x). -/
theorem existential_conjunction_elimination {A B : D → Prop} (h : Exists fun x => And (A x) (B x)) :
    Exists fun x => A x := h.elim fun x k => ⟨x, k.left⟩
/-- EXISTENTIAL_CONJUNCTION_ELIMINATION: from ∃x (A(x) ∧ G), conclude G. -/
theorem existential_conjunction_elimination_closed {A : D → Prop} {G : Prop} (h : Exists fun x => And (A x) G) : G :=
  h.elim fun _ k => k.right
/-- EXISTENTIAL_CONJUNCTION_ELIMINATION: from ∃x ∃y (A(x, y) ∧ B(x, y)), conclude ∃x ∃y A(x, y). -/
theorem existential_conjunction_elimination_two {A B : D → D → Prop}
    (h : Exists fun x => Exists fun y => And (A x y) (B x y)) : Exists fun x => Exists fun y => A x y :=
  h.elim fun x e => e.elim fun y k => ⟨x, y, k.left⟩
/-- EXISTENTIAL_CONJUNCTION_ELIMINATION: from ∃x ∃y (A(x, y) ∧ G), conclude G. -/
theorem existential_conjunction_elimination_two_closed {A : D → D → Prop} {G : Prop}
    (h : Exists fun x => Exists fun y => And (A x y) G) : G := h.elim fun _ e => e.elim fun _ k => k.right
/-- EXISTENTIAL_IMPLICATION_ELIMINATION: from ∃x A(x) and ∀x (A(x) → B(x)), conclude ∃x B(x). -/
theorem existential_implication_elimination {A B : D → Prop} (h : Exists fun x => A x) (k : ∀ x, A x → B x) :
    Exists fun x => B x := h.elim fun x a => ⟨x, k x a⟩
/-- EXISTENTIAL_IMPLICATION_ELIMINATION: from ∃x A(x) and ∀x (A(x) ↔ B(x)), conclude ∃x B(x). -/
theorem existential_implication_elimination_iff {A B : D → Prop} (h : Exists fun x => A x)
    (k : ∀ x, Iff (A x) (B x)) : Exists fun x => B x := h.elim fun x a => ⟨x, (k x).mp a⟩
/-- EXISTENTIAL_IMPLICATION_ELIMINATION: from ∃x (A(x) ∧ C(x)) and ∀x (A(x) → B(x)), conclude ∃x B(x). -/
theorem existential_implication_elimination_part {A B C : D → Prop} (h : Exists fun x => And (A x) (C x))
    (k : ∀ x, A x → B x) : Exists fun x => B x := h.elim fun x p => ⟨x, k x p.left⟩
/-- EXISTENTIAL_IMPLICATION_ELIMINATION: from ∃x (A(x) ∧ C(x)) and ∀x (A(x) → B(x)), conclude ∃x (B(x) ∧ C(x)). -/
theorem existential_implication_elimination_and {A B C : D → Prop} (h : Exists fun x => And (A x) (C x))
    (k : ∀ x, A x → B x) : Exists fun x => And (B x) (C x) := h.elim fun x p => ⟨x, k x p.left, p.right⟩
/-- EXISTENTIAL_IMPLICATION_ELIMINATION: from ∃x ∃y A(x, y) and ∀x ∀y (A(x, y) → B(x, y)), conclude ∃x ∃y B(x, y). -/
theorem existential_implication_elimination_two {A B : D → D → Prop} (h : Exists fun x => Exists fun y => A x y)
    (k : ∀ x, ∀ y, A x y → B x y) : Exists fun x => Exists fun y => B x y :=
  h.elim fun x e => e.elim fun y a => ⟨x, y, k x y a⟩
/-- EXISTENTIAL_CONJUNCTION_INTRODUCTION: from ∃x A(x) and G, conclude ∃x (A(x) ∧ G). -/
theorem existential_conjunction_introduction {A : D → Prop} {G : Prop} (h : Exists fun x => A x) (g : G) :
    Exists fun x => And (A x) G := h.elim fun x a => ⟨x, a, g⟩

/-! QUANTIFIER_NEGATION -/
/-- QUANTIFIER_NEGATION: from ¬∀x A(x), conclude ∃x ¬A(x). -/
theorem not_forall_to_exists_not {A : D → Prop} (h : Not (∀ x, A x)) : Exists fun x => Not (A x) :=
  forall_false_witness h
/-- QUANTIFIER_NEGATION: from ∃x ¬A(x), conclude ¬∀x A(x). -/
theorem exists_not_to_not_forall {A : D → Prop} (h : Exists fun x => Not (A x)) : Not (∀ x, A x) :=
  h.elim forall_false_of_instance
/-- QUANTIFIER_NEGATION: from ¬∃x A(x), conclude ∀x ¬A(x). -/
theorem not_exists_to_forall_not {A : D → Prop} (h : Not (Exists fun x => A x)) : ∀ x, Not (A x) :=
  exists_false_instance h
/-- QUANTIFIER_NEGATION: from ∀x ¬A(x), conclude ¬∃x A(x). -/
theorem forall_not_to_not_exists {A : D → Prop} (h : ∀ x, Not (A x)) : Not (Exists fun x => A x) :=
  exists_false_of_all h
/-- QUANTIFIER_NEGATION: from ¬∀x ¬A(x), conclude ∃x A(x). -/
theorem not_forall_not_to_exists {A : D → Prop} (h : Not (∀ x, Not (A x))) : Exists fun x => A x :=
  (forall_false_witness h).elim fun x n => ⟨x, not_not_elim n⟩
/-- QUANTIFIER_NEGATION: from ∃x A(x), conclude ¬∀x ¬A(x). -/
theorem exists_to_not_forall_not {A : D → Prop} (h : Exists fun x => A x) : Not (∀ x, Not (A x)) :=
  fun none => h.elim none
/-- QUANTIFIER_NEGATION: from ¬∃x ¬A(x), conclude ∀x A(x). -/
theorem not_exists_not_to_forall {A : D → Prop} (h : Not (Exists fun x => Not (A x))) : ∀ x, A x :=
  fun x => not_not_elim (exists_false_instance h x)
/-- QUANTIFIER_NEGATION: from ∀x A(x), conclude ¬∃x ¬A(x). -/
theorem forall_to_not_exists_not {A : D → Prop} (h : ∀ x, A x) : Not (Exists fun x => Not (A x)) :=
  fun e => e.elim fun x n => n (h x)
end Quantified

/-! The complete catalogue adds the following. A step of it may stand under hypotheses: `under_hypotheses`. -/

section Propositional
variable {A B C D : Prop}

/-! DISJUNCTION_INTRODUCTION, EQUIVALENCE_INTRODUCTION -/
/-- DISJUNCTION_INTRODUCTION: from A, conclude A ∨ B. -/
theorem disjunction_introduction (a : A) : Or A B := .inl a
/-- DISJUNCTION_INTRODUCTION: from B, conclude A → B. -/
theorem disjunction_introduction_implies (b : B) : A → B := fun _ => b
/-- DISJUNCTION_INTRODUCTION: from ¬A, conclude A → B. -/
theorem disjunction_introduction_implies_not (n : Not A) : A → B := implies_of_false_any n
/-- DISJUNCTION_INTRODUCTION: from ¬A, conclude ¬(A ∧ B). -/
theorem disjunction_introduction_not_and (n : Not A) : Not (And A B) := and_of_false_any n
/-- EQUIVALENCE_INTRODUCTION: from A and B, conclude A ↔ B. -/
theorem equivalence_introduction (a : A) (b : B) : Iff A B := iff_of_true_true a b
/-- EQUIVALENCE_INTRODUCTION: from ¬A and ¬B, conclude A ↔ B. -/
theorem equivalence_introduction_not (n : Not A) (m : Not B) : Iff A B := iff_of_false_false n m
/-- EQUIVALENCE_INTRODUCTION: from A and B, conclude ¬(A ⊕ B). -/
theorem equivalence_introduction_not_xor (a : A) (b : B) : Not (Xor A B) := xor_of_true_true a b
/-- EQUIVALENCE_INTRODUCTION: from ¬A and ¬B, conclude ¬(A ⊕ B). -/
theorem equivalence_introduction_not_xor_not (n : Not A) (m : Not B) : Not (Xor A B) := xor_of_false_false n m

/-! CASE_ANALYSIS, REDUCTIO_AD_ABSURDUM, REITERATION -/
/-- CASE_ANALYSIS: from A ∨ B, A → C and B → C, conclude C. -/
theorem case_analysis (h : Or A B) (f : A → C) (g : B → C) : C := h.elim f g
/-- CASE_ANALYSIS: from A ∨ B and A → B, conclude B. -/
theorem case_analysis_one (h : Or A B) (f : A → B) : B := h.elim f fun b => b
/-- CASE_ANALYSIS: from A ∨ B, A → C and B → D, conclude C ∨ D. -/
theorem case_analysis_both (h : Or A B) (f : A → C) (g : B → D) : Or C D :=
  h.elim (fun a => .inl (f a)) fun b => .inr (g b)
/-- CASE_ANALYSIS: from A ∨ B and A → C, conclude C ∨ B. -/
theorem case_analysis_resolution (h : Or A B) (f : A → C) : Or C B := h.elim (fun a => .inl (f a)) .inr
/-- CASE_ANALYSIS: from A → C and ¬A → C, conclude C. -/
theorem case_analysis_excluded_middle (h : A → C) (g : Not A → C) : C := (Classical.em A).elim h g
/-- REDUCTIO_AD_ABSURDUM: from ¬A → A, conclude A. -/
theorem reductio_ad_absurdum_of_negation (h : Not A → A) : A := (Classical.em A).elim (fun a => a) h
/-- REDUCTIO_AD_ABSURDUM: from A → ¬A, conclude ¬A. -/
theorem reductio_ad_absurdum_of_itself (h : A → Not A) : Not A := fun a => h a a
/-- REDUCTIO_AD_ABSURDUM: from A → B and A → ¬B, conclude ¬A. -/
theorem reductio_ad_absurdum (h : A → B) (g : A → Not B) : Not A := fun a => g a (h a)
/-- REITERATION: from A, conclude A. -/
theorem reiteration (a : A) : A := a
end Propositional

section Quantified
variable {D : Type}

/-! EXISTENTIAL_ELIMINATION, EQUALITY_SUBSTITUTION, EQUALITY_REFLEXIVITY -/
/-- EXISTENTIAL_ELIMINATION: from ∃x A(x) and ∀x (A(x) → G), conclude G. -/
theorem existential_elimination {A : D → Prop} {G : Prop} (h : Exists fun x => A x) (k : ∀ x, A x → G) : G := h.elim k
/-- EXISTENTIAL_ELIMINATION: from ∃x (A(x) ∧ B(x)) and ∀x (A(x) → G), conclude G. -/
theorem existential_elimination_part {A B : D → Prop} {G : Prop} (h : Exists fun x => And (A x) (B x))
    (k : ∀ x, A x → G) : G := h.elim fun x p => k x p.left
/-- EXISTENTIAL_ELIMINATION: from ¬∀x A(x) and ∀x (¬A(x) → G), conclude G. -/
theorem existential_elimination_not_forall {A : D → Prop} {G : Prop} (h : Not (∀ x, A x))
    (k : ∀ x, Not (A x) → G) : G := (forall_false_witness h).elim k
/-- EQUALITY_SUBSTITUTION: from t = u and A(t), conclude A(u). -/
theorem equality_substitution {A : D → Prop} {t u : D} (h : Eq t u) (a : A t) : A u := h.rec a
/-- EQUALITY_SUBSTITUTION: from A(t) and ¬A(u), conclude ¬(t = u). -/
theorem equality_substitution_distinct {A : D → Prop} {t u : D} (a : A t) (n : Not (A u)) : Not (Eq t u) :=
  fun h => n (h.rec a)
/-- EQUALITY_REFLEXIVITY: conclude t = t. -/
theorem equality_reflexivity {t : D} : Eq t t := .refl t
end Quantified

end ProofR1
