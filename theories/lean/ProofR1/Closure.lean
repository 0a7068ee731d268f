/-!
The conditional soundness of a closure: if every step of it is entailed by what it depends on, then what the premises
say carries over to the answer.
-/
namespace ProofR1

section Abstract
universe u
variable {F : Sort u} (premise : F → Prop) (both : F → F → F) (entails : F → F → Prop)

/-- The formulas that a closure reaches: premises, and what is entailed by formulas reached before, taken together. -/
inductive Closure : F → Prop where
  | premise {f : F} : premise f → Closure f
  | both {f g : F} : Closure f → Closure g → Closure (both f g)
  | step {d f : F} : Closure d → entails d f → Closure f

/-- By induction over the closure, whatever `holds` means: entailment preserves it, so it reaches the answer. -/
theorem conditional_soundness {holds : F → Prop}
    (premises_hold : ∀ f, premise f → holds f)
    (both_hold : ∀ f g, holds f → holds g → holds (both f g))
    (entailment_preserves : ∀ d f, entails d f → holds d → holds f)
    {answer : F} (reached : Closure premise both entails answer) : holds answer :=
  Closure.rec (motive := fun f _ => holds f)
    (fun {f} given => premises_hold f given)
    (fun {f g} _ _ first second => both_hold f g first second)
    (fun {d f} _ entailed so_far => entailment_preserves d f entailed so_far)
    reached
end Abstract

/-! Certificates: formulas are propositions, and entailment is proof of the one from the other. -/

/-- What a certificate reaches; its premises are what it is given proofs of. -/
def Certified : Prop → Prop := Closure (fun p => p) And (fun d f => d → f)

variable {A B C E F : Prop}

theorem given (h : A) : Certified A := .premise h
theorem step0 (entailed : F) : Certified F := .premise entailed
theorem step1 (a : Certified A) (entailed : A → F) : Certified F := .step a entailed
theorem step2 (a : Certified A) (b : Certified B) (entailed : A → B → F) : Certified F :=
  .step (.both a b) fun k => entailed k.left k.right
theorem step3 (a : Certified A) (b : Certified B) (c : Certified C) (entailed : A → B → C → F) : Certified F :=
  .step (.both a (.both b c)) fun k => entailed k.left k.right.left k.right.right
theorem step4 (a : Certified A) (b : Certified B) (c : Certified C) (e : Certified E)
    (entailed : A → B → C → E → F) : Certified F :=
  .step (.both a (.both b (.both c e))) fun k =>
    entailed k.left k.right.left k.right.right.left k.right.right.right

/-- The answer holds: an instance of `conditional_soundness`. -/
theorem answer (reached : Certified A) : A :=
  conditional_soundness (fun p => p) And (fun d f => d → f) (holds := fun p => p)
    (fun _ h => h) (fun _ _ a b => ⟨a, b⟩) (fun _ _ entailed d => entailed d) reached

end ProofR1
