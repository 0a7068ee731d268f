import ProofR1
import ProofR1Test.Module
/-! What a file that is no `module` can do with the theory; `lake test` builds it. -/
namespace ProofR1Test

/-- A certificate in small: each step applies the theorem of a schema. -/
theorem tom_is_no_cat (D : Type) (cat dog barks : D → Prop) (tom : D) (h1 : ProofR1.Xor (cat tom) (dog tom))
    (h2 : ∀ x, barks x → dog x) (h3 : barks tom) : Not (cat tom) :=
  ProofR1.step (dog tom) (ProofR1.implication_elimination (h2 tom) h3) fun s1 =>
  ProofR1.xor_elimination_right h1 s1

/-- The checker runs on data: ⊤ is entailed by nothing. -/
example : Checker.truth.Holds := ProofR1.Checker.check_sound (p := Checker.proof) rfl

end ProofR1Test
