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

/-- A problem: the sorts of functions, the premises by their ids, and the formulas of the options. -/
structure Problem where
  sorts : List Declaration
  premises : List (Prod Key Formula)
  options : List Formula

/-- A step of a trace: its id, those of what it depends on, its conclusion, and the evidence. -/
structure Step where
  id : Key
  dependencies : List Key
  conclusion : Formula
  evidence : Derivation

/-- A trace: theorems that its steps apply, the steps, the id of the last one, and the number of the option. -/
structure Trace where
  lemmas : List Lemma
  steps : List Step
  last : Key
  option : Nat

/-- The formulas of the premises. -/
def Problem.formulas (P : Problem) : List Formula := P.premises.rec .nil fun premise _ rest => .cons premise.snd rest
/-- The premises entail the formula of an option. -/
def Problem.Entails (P : Problem) (option : Nat) : Prop :=
  Exists fun φ => And (Eq (nth P.options option) (some φ)) (Claim.Holds.{u} ⟨P.sorts, P.formulas, φ⟩)

/-- The formulas as premises, whose ids are the numbers from `n` on. -/
def keyed (formulas : List Formula) : Nat → List (Prod Key Formula) :=
  formulas.rec (motive := fun _ => Nat → List (Prod Key Formula)) (fun _ => .nil) fun a _ rest n =>
    .cons ⟨.ofNumber n, a⟩ (rest (Nat.add n 1))
theorem formulas_keyed (S : List Declaration) (options : List Formula) : (formulas : List Formula) → (n : Nat) →
    Eq (Problem.formulas ⟨S, keyed formulas n, options⟩) formulas
  | .nil, _ => rfl
  | .cons a formulas, n => congrArg (List.cons a) (formulas_keyed S options formulas (Nat.add n 1))

/-- The map with a formula for an id that is not in it. -/
def add (id : Key) (a : Formula) (K : Map Formula) : Option (Map Formula) :=
  guard (opposite (accepts (K.get id) fun _ => true)) (some (K.put a id))
/-- The premises, by their ids. -/
def assumed (premises : List (Prod Key Formula)) : Map Formula → Option (Map Formula) :=
  premises.rec (motive := fun _ => Map Formula → Option (Map Formula)) some fun premise _ rest K =>
    andThen (add premise.fst premise.snd K) rest
/-- What is known after the steps, if each follows from what it depends on. -/
def reached (L : List Lemma) (S : List Declaration) (steps : List Step) : Map Formula → Option (Map Formula) :=
  steps.rec (motive := fun _ => Map Formula → Option (Map Formula)) some fun s _ rest K =>
    andThen (K.gets s.dependencies) fun known => guard (s.evidence.shows L ⟨S, known, s.conclusion⟩)
      (andThen (add s.id s.conclusion K) rest)
/-- Whether each step follows, and the last one is the formula of the option. -/
def checkTrace (P : Problem) (t : Trace) : Bool :=
  accepts (proved t.lemmas .nil) fun L =>
    accepts (andThen (assumed P.premises .empty) (reached L P.sorts t.steps)) fun K =>
      accepts (K.get t.last) fun a => accepts (nth P.options t.option) (Formula.beq a)

section
variable {D : Type u} {M : Model D} {e : Nat → D}
theorem add_true {id : Key} {a : Formula} {K K' : Map Formula} (h : a.true M e) (all : K.Each fun a => a.true M e)
    (k : Eq (add id a K) (some K')) : K'.Each fun a => a.true M e :=
  guard_some k fun _ k => some_inj k ▸ Map.each_put (p := fun a : Formula => a.true M e) h id K all
theorem assumed_true : (premises : List (Prod Key Formula)) → (K K' : Map Formula) →
    Each (fun a => a.true M e) (premises.rec .nil fun premise _ rest => .cons premise.snd rest) →
    (K.Each fun a => a.true M e) → Eq (assumed premises K) (some K') → K'.Each fun a => a.true M e
  | .nil, _, _, _, all, k => some_inj k ▸ all
  | .cons _ premises, _, K', h, all, k => andThen_some k fun K ka k =>
    assumed_true premises K K' h.right (add_true h.left all ka) k
theorem reached_true {L : List Lemma} (lemmas : Each Lemma.Holds.{u} L) {S : List Declaration} (obeys : Each (Obeys M) S) :
    (steps : List Step) → (K K' : Map Formula) → (K.Each fun a => a.true M e) → Eq (reached L S steps K) (some K') →
    K'.Each fun a => a.true M e
  | .nil, _, _, all, k => some_inj k ▸ all
  | .cons s steps, K, K', all, k => andThen_some k fun known kk k => guard_some k fun shown k =>
    andThen_some k fun K₁ ka k =>
      have h : s.conclusion.true M e := shows_sound lemmas ⟨S, known, s.conclusion⟩ s.evidence shown D M e obeys
        (Map.each_gets (p := fun a : Formula => a.true M e) K all s.dependencies known kk)
      reached_true lemmas obeys steps K₁ K' (add_true h all ka) k
end

/-- Conditional soundness: what a trace that the checker accepts selects is entailed by the premises. -/
theorem trace_sound {P : Problem} {t : Trace} (h : Eq (checkTrace P t) true) : Problem.Entails.{u} P t.option :=
  accepts_true h fun L lemmas h => accepts_true h fun K known h => accepts_true h fun a last h =>
    accepts_true h fun φ option same => ⟨φ, option, fun _ M e obeys premises => andThen_some known fun K₁ given known =>
      have all : K.Each fun a => a.true M e :=
        reached_true (proved_sound t.lemmas .nil L .intro lemmas) obeys t.steps K₁ K
          (assumed_true P.premises .empty K₁ premises Map.each_empty given) known
      Formula.eq_of_beq a φ same ▸ all t.last a last⟩

end
end ProofR1.Checker
