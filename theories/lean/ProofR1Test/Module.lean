module
public import ProofR1
/-! What a `module` can do with the theory: apply its theorems, unfold its definitions, run its checker. -/
@[expose] public section
namespace ProofR1Test

example (A B : Prop) (h : A → B) (n : Not B) : Not A := ProofR1.modus_tollens h n
example (A B : Prop) (h : ProofR1.Xor A B) : Or (And A (Not B)) (And B (Not A)) := h

/-- The claim that ⊤ follows from nothing, and its proof. -/
def Checker.truth : ProofR1.Checker.Claim := ⟨.nil, .nil, .top⟩
def Checker.proof : ProofR1.Checker.Proof := ⟨.nil, ⟨.nil, .line (.truth .top) .done⟩⟩
example : Eq (ProofR1.Checker.check Checker.truth Checker.proof) true := rfl

end ProofR1Test
