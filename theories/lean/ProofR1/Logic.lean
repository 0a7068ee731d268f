module
/-!
The lemmas that proof terms are made of: what truth tables force, double negation, and quantifiers.

Written in what Lean 4 and `mini/Init.lean` have in common: terms, no tactics, no infix connectives. A name says what is
given: `or_true_left_of_false` is about the left side of a true disjunction whose right side is false, and
`xor_of_true_false` about an exclusive disjunction whose left side is true and whose right side is false.
-/
@[expose] public section
namespace ProofR1

/-- Exactly one of the two. -/
def Xor (A B : Prop) : Prop := Or (And A (Not B)) (And B (Not A))

section Propositional
variable {A B : Prop}

theorem not_not_elim (h : Not (Not A)) : A := (Classical.em A).elim (fun a => a) fun n => absurd n h
theorem not_not_intro (a : A) : Not (Not A) := fun n => n a

/-! Elimination: a side, from the value of the whole and, where it is needed, of the other side. -/

theorem and_true_left (h : And A B) : A := h.left
theorem and_true_right (h : And A B) : B := h.right
theorem and_false_left_of_true (h : Not (And A B)) (b : B) : Not A := fun a => h ⟨a, b⟩
theorem and_false_right_of_true (h : Not (And A B)) (a : A) : Not B := fun b => h ⟨a, b⟩

theorem or_true_left_of_false (h : Or A B) (n : Not B) : A := h.elim (fun a => a) fun b => absurd b n
theorem or_true_right_of_false (h : Or A B) (n : Not A) : B := h.elim (fun a => absurd a n) fun b => b
theorem or_false_left (h : Not (Or A B)) : Not A := fun a => h (.inl a)
theorem or_false_right (h : Not (Or A B)) : Not B := fun b => h (.inr b)

theorem implies_true_left_of_false (h : A → B) (n : Not B) : Not A := fun a => n (h a)
theorem implies_true_right_of_true (h : A → B) (a : A) : B := h a
theorem implies_false_left (h : Not (A → B)) : A := not_not_elim fun n => h fun a => absurd a n
theorem implies_false_right (h : Not (A → B)) : Not B := fun b => h fun _ => b

theorem xor_true_left_of_true (h : Xor A B) (b : B) : Not A := h.elim (fun k => absurd b k.right) fun k => k.right
theorem xor_true_left_of_false (h : Xor A B) (n : Not B) : A := h.elim (fun k => k.left) fun k => absurd k.left n
theorem xor_true_right_of_true (h : Xor A B) (a : A) : Not B := h.elim (fun k => k.right) fun k => absurd a k.right
theorem xor_true_right_of_false (h : Xor A B) (n : Not A) : B := h.elim (fun k => absurd k.left n) fun k => k.left
theorem xor_false_left_of_true (h : Not (Xor A B)) (b : B) : A := not_not_elim fun n => h (.inr ⟨b, n⟩)
theorem xor_false_left_of_false (h : Not (Xor A B)) (n : Not B) : Not A := fun a => h (.inl ⟨a, n⟩)
theorem xor_false_right_of_true (h : Not (Xor A B)) (a : A) : B := not_not_elim fun n => h (.inl ⟨a, n⟩)
theorem xor_false_right_of_false (h : Not (Xor A B)) (n : Not A) : Not B := fun b => h (.inr ⟨b, n⟩)

theorem iff_true_left_of_true (h : Iff A B) (b : B) : A := h.mpr b
theorem iff_true_left_of_false (h : Iff A B) (n : Not B) : Not A := fun a => n (h.mp a)
theorem iff_true_right_of_true (h : Iff A B) (a : A) : B := h.mp a
theorem iff_true_right_of_false (h : Iff A B) (n : Not A) : Not B := fun b => n (h.mpr b)
theorem iff_false_left_of_true (h : Not (Iff A B)) (b : B) : Not A := fun a => h ⟨fun _ => b, fun _ => a⟩
theorem iff_false_left_of_false (h : Not (Iff A B)) (n : Not B) : A :=
  not_not_elim fun m => h ⟨fun a => absurd a m, fun b => absurd b n⟩
theorem iff_false_right_of_true (h : Not (Iff A B)) (a : A) : Not B := fun b => h ⟨fun _ => b, fun _ => a⟩
theorem iff_false_right_of_false (h : Not (Iff A B)) (n : Not A) : B :=
  not_not_elim fun m => h ⟨fun a => absurd a n, fun b => absurd b m⟩

/-! Introduction: the whole, from the values of its sides, or of one of them where that is enough. -/

theorem and_of_true_true (a : A) (b : B) : And A B := ⟨a, b⟩
theorem and_of_false_any (n : Not A) : Not (And A B) := fun h => n h.left
theorem and_of_any_false (n : Not B) : Not (And A B) := fun h => n h.right

theorem or_of_true_any (a : A) : Or A B := .inl a
theorem or_of_any_true (b : B) : Or A B := .inr b
theorem or_of_false_false (n : Not A) (m : Not B) : Not (Or A B) := fun h => h.elim n m

theorem implies_of_false_any (n : Not A) : A → B := fun a => absurd a n
theorem implies_of_any_true (b : B) : A → B := fun _ => b
theorem implies_of_true_false (a : A) (n : Not B) : Not (A → B) := fun h => n (h a)

theorem xor_of_true_true (a : A) (b : B) : Not (Xor A B) :=
  fun h => h.elim (fun k => k.right b) fun k => k.right a
theorem xor_of_true_false (a : A) (n : Not B) : Xor A B := .inl ⟨a, n⟩
theorem xor_of_false_true (n : Not A) (b : B) : Xor A B := .inr ⟨b, n⟩
theorem xor_of_false_false (n : Not A) (m : Not B) : Not (Xor A B) :=
  fun h => h.elim (fun k => n k.left) fun k => m k.left

theorem iff_of_true_true (a : A) (b : B) : Iff A B := ⟨fun _ => b, fun _ => a⟩
theorem iff_of_true_false (a : A) (n : Not B) : Not (Iff A B) := fun h => n (h.mp a)
theorem iff_of_false_true (n : Not A) (b : B) : Not (Iff A B) := fun h => n (h.mpr b)
theorem iff_of_false_false (n : Not A) (m : Not B) : Iff A B := ⟨fun a => absurd a n, fun b => absurd b m⟩
end Propositional

section Quantified
variable {D : Type} {P : D → Prop}

theorem exists_false_instance (h : Not (Exists P)) (t : D) : Not (P t) := fun p => h ⟨t, p⟩
theorem forall_false_witness (h : Not (∀ x, P x)) : Exists fun x => Not (P x) :=
  not_not_elim fun none => h fun x => not_not_elim fun n => none ⟨x, n⟩
theorem forall_false_of_instance (t : D) (n : Not (P t)) : Not (∀ x, P x) := fun all => n (all t)
theorem exists_false_of_all (h : ∀ x, Not (P x)) : Not (Exists P) := fun e => e.elim h
end Quantified

end ProofR1
