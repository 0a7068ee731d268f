module
/-!
The conditional soundness of a closure: if every step of it is entailed by what it depends on, then what the premises
say carries over to the answer.
-/
@[expose] public section
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

/-- One step of a certificate, an instance of `conditional_soundness` where formulas are propositions and entailment is
proof: `F` is proved from what was reached before, and entails what comes after. -/
theorem step (F : Prop) {answer : Prop} (entailed : F) (rest : F → answer) : answer :=
  conditional_soundness (fun p => p) And (fun d f => d → f) (holds := fun p => p)
    (fun _ given => given) (fun _ _ first second => ⟨first, second⟩) (fun _ _ entailed so_far => entailed so_far)
    (.step (.premise entailed) rest)

/-- A step under hypotheses: what entails the conclusion at every element, and holds at those for which the hypotheses
hold, gives the conclusion for these. An element of `D` may be a tuple of elements. -/
theorem under_hypotheses {D : Type} {H P C : D → Prop} (entailed : ∀ x, P x → C x) (given : ∀ x, H x → P x) :
    ∀ x, H x → C x := fun x h => entailed x (given x h)

end ProofR1
