module
public import ProofR1.Checker.Soundness
/-!
The conditional soundness of a trace (the paper's appendix "Conditional soundness"): if each step of it follows from
the premises and steps that it depends on, the premises entail the formula of the option that the trace selects.
-/
@[expose] public section
namespace ProofR1.Checker
noncomputable section
universe u

/-- A problem: the sorts of functions, the premises, and the formulas of the options. -/
structure Problem where
  sorts : List Declaration
  premises : List Formula
  options : List Formula

/-- A step of a trace: the numbers of the premises and steps that it depends on, its conclusion, and the evidence. The
premises have the numbers from 0 on, and the steps those that follow. -/
structure Step where
  dependencies : List Nat
  conclusion : Formula
  evidence : Derivation

/-- A trace: theorems that its steps apply, the steps, the number of the last one, and that of the option. -/
structure Trace where
  lemmas : List Lemma
  steps : List Step
  last : Nat
  option : Nat

/-- The premises entail the formula of an option. -/
def Problem.Entails (P : Problem) (option : Nat) : Prop :=
  Exists fun φ => And (Eq (nth P.options option) (some φ)) (Claim.Holds.{u} ⟨P.sorts, P.premises, φ⟩)

/-- Go on with the premises and how many there are, after those that are known. -/
def assumed {β : Type} (premises : List Formula) : Nat → Known Formula → (Nat → Known Formula → β) → β :=
  premises.rec (motive := fun _ => Nat → Known Formula → (Nat → Known Formula → β) → β) (fun n K go => go n K)
    fun a _ rest n K go => K.put n (.leaf a) fun K => next n fun n => rest n K go
/-- What is known after the steps, if each follows from what it depends on. -/
def reached (L : List Lemma) (S : List Declaration) (steps : List Step) : Nat → Known Formula → Option (Known Formula) :=
  steps.rec (motive := fun _ => Nat → Known Formula → Option (Known Formula)) (fun _ K => some K) fun s _ rest n K =>
    s.casesOn fun dependencies a evidence => andThen (K.gets n dependencies) fun known =>
      guard (evidence.shows L ⟨S, known, a⟩) (K.put n (.leaf a) fun K => next n fun n => rest n K)
/-- Whether each step follows, and the last one is the formula of the option. -/
def checkTrace (P : Problem) (t : Trace) : Bool :=
  accepts (proved t.lemmas .nil) fun L =>
    accepts (assumed P.premises 0 .empty (reached L P.sorts t.steps)) fun K =>
      accepts (K.get t.last) fun a => accepts (nth P.options t.option) (Formula.beq a)

section
variable {D : Type u}
/-- All known formulas are true. -/
def Known.true (K : Known Formula) (M : Model D) (e : Nat → D) : Prop := K.Each fun a => a.true M e

variable {M : Model D} {e : Nat → D}
theorem assumed_true {β : Type} {q : β → Prop} : (premises : List Formula) → (n : Nat) → (K : Known Formula) →
    (go : Nat → Known Formula → β) → Each (fun a => a.true M e) premises → K.true M e →
    (∀ n (K : Known Formula), K.true M e → q (go n K)) → q (assumed premises n K go)
  | .nil, n, K, _, _, all, f => f n K all
  | .cons a premises, n, K, go, h, all, f =>
    K.each_put (q := q) n (.leaf a) (fun K => next n fun n => assumed premises n K go) all h.left fun K all =>
      assumed_true premises (.succ n) K go h.right all f
theorem reached_true {L : List Lemma} (lemmas : Each Lemma.Holds.{u} L) {S : List Declaration} (obeys : Each (Obeys M) S)
    {K' : Known Formula} : (steps : List Step) → (n : Nat) → (K : Known Formula) → K.true M e →
    Eq (reached L S steps n K) (some K') → K'.true M e
  | .nil, _, _, all, k => some_inj k ▸ all
  | .cons ⟨dependencies, a, evidence⟩ steps, n, K, all, k => andThen_some k fun known kk k => guard_some k fun shown k =>
    have h : a.true M e := shows_sound lemmas ⟨S, known, a⟩ evidence shown D M e obeys
      (K.each_gets (p := fun a : Formula => a.true M e) n all dependencies known kk)
    K.each_put (q := fun o => Eq o (some K') → K'.true M e) n (.leaf a)
      (fun K => next n fun n => reached L S steps n K) all h
      (fun K all k => reached_true lemmas obeys steps (.succ n) K all k) k
end

/-- Conditional soundness: what a trace that the checker accepts selects is entailed by the premises. -/
theorem trace_sound {P : Problem} {t : Trace} (h : Eq (checkTrace P t) true) : Problem.Entails.{u} P t.option :=
  accepts_true h fun L lemmas h => accepts_true h fun K known h => accepts_true h fun a last h =>
    accepts_true h fun φ option same => ⟨φ, option, fun _ M e obeys premises =>
      have all : K.true M e :=
        assumed_true (q := fun o => Eq o (some K) → K.true M e) P.premises 0 .empty (reached L P.sorts t.steps) premises .intro
          (fun n K₁ => reached_true (proved_sound t.lemmas .nil L .intro lemmas) obeys t.steps n K₁) known
      Formula.eq_of_beq a φ same ▸ K.each_get all last⟩

end
end ProofR1.Checker
