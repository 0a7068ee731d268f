module
/-! The domains of countermodels: types of one to four elements, and what holds of all their elements. -/
@[expose] public section
namespace ProofR1

inductive D1 : Type where
  | e0
inductive D2 : Type where
  | e0 | e1
inductive D3 : Type where
  | e0 | e1 | e2
inductive D4 : Type where
  | e0 | e1 | e2 | e3

theorem D1.all {P : D1 → Prop} (h0 : P .e0) : ∀ x, P x :=
  fun x => D1.rec h0 x
theorem D2.all {P : D2 → Prop} (h0 : P .e0) (h1 : P .e1) : ∀ x, P x :=
  fun x => D2.rec h0 h1 x
theorem D3.all {P : D3 → Prop} (h0 : P .e0) (h1 : P .e1) (h2 : P .e2) : ∀ x, P x :=
  fun x => D3.rec h0 h1 h2 x
theorem D4.all {P : D4 → Prop} (h0 : P .e0) (h1 : P .e1) (h2 : P .e2) (h3 : P .e3) : ∀ x, P x :=
  fun x => D4.rec h0 h1 h2 h3 x

end ProofR1
