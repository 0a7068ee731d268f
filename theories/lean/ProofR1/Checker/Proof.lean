module
public import ProofR1.Checker.Semantics
/-!
The proof calculus of `kernel/term.py` as data, and its checker: what each line says, if it follows.

Lines are signed formulas. They refer to other lines by how many lines ago they were, from 0. Premises come before the
lines, the first premise first. `Soundness` proves that what `check` accepts is entailed.
-/
@[expose] public section
namespace ProofR1.Checker
noncomputable section

/-! ## Signed formulas -/

/-- What a line says: that a formula is true, or that it is false. -/
structure Signed where
  formula : Formula
  sign : Bool

/-- What says that the formula has the truth value; each ¬ at its beginning changes the sign. -/
def signed (a : Formula) : Bool → Signed :=
  a.rec (motive := fun _ => Bool → Signed) (Signed.mk .top) (Signed.mk .bottom) (fun p ts => Signed.mk (.atom p ts))
    (fun s t => Signed.mk (.equal s t)) (fun _ body sign => body (opposite sign))
    (fun o a b _ _ => Signed.mk (.binary o a b)) (fun s a _ => Signed.mk (.forAll s a)) fun s a _ => Signed.mk (.exist s a)
/-- What says that a contradiction holds. -/
def falsum : Signed := ⟨.bottom, true⟩
def Signed.beq (a b : Signed) : Bool := both (same a.sign b.sign) (a.formula.beq b.formula)
def Signed.has (c : Nat) (a : Signed) : Bool := a.formula.has c
/-- Whether what was shown is the goal, or a contradiction, which shows anything. -/
def closes (goal shown : Signed) : Bool := either (shown.beq goal) (shown.beq falsum)

/-! ## Truth tables -/

/-- The truth table of a connective. -/
def Connective.table (o : Connective) : Bool → Bool → Bool :=
  o.rec both either (fun x y => opposite (same x y)) (fun x y => either (opposite x) y) same
/-- Whether a premise about a side allows the side to have the value. -/
def allows (side premise : Signed) (x : Bool) : Bool :=
  either (opposite (side.formula.beq premise.formula)) (same x (same premise.sign side.sign))
/-- Whether the premises, each about the one side or the other, allow the row of the truth table. -/
def rowAllowed (a b : Signed) (premises : List Signed) (x y : Bool) : Bool :=
  allOf (fun p => both (allows a p x) (allows b p y)) premises
/-- Whether each premise is about one of the sides. -/
def areSides (a b : Signed) (premises : List Signed) : Bool :=
  allOf (fun p => either (a.formula.beq p.formula) (b.formula.beq p.formula)) premises
/-- Whether an allowed row has the value. -/
def possible (allowed value : Bool → Bool → Bool) (w : Bool) : Bool :=
  let row (x y : Bool) : Bool := both (allowed x y) (same (value x y) w)
  either (either (row true true) (row true false)) (either (row false true) (row false false))
/-- The value in all allowed rows, of which there is one. -/
def forced (allowed value : Bool → Bool → Bool) : Option Bool :=
  Bool.rec (Bool.rec none (some false) (possible allowed value false))
    (Bool.rec (some true) none (possible allowed value false)) (possible allowed value true)

/-! ## Rules without blocks -/

/-- The value of one side that the truth table of a binary formula forces, with the premises. -/
def eliminated (left : Bool) (premises : List Signed) (main : Signed) : Option Signed :=
  main.formula.onBinary none fun o a b =>
    guard (areSides (signed a true) (signed b true) premises)
      (andThen (forced (fun x y => both (same (o.table x y) main.sign)
          (rowAllowed (signed a true) (signed b true) premises x y)) fun x y => Bool.rec y x left)
        fun w => some (signed (Bool.rec b a left) w))
/-- The value of a binary formula that its truth table forces, with the premises. -/
def introduced (premises : List Signed) (f : Formula) : Option Signed :=
  f.onBinary none fun o a b =>
    guard (areSides (signed a true) (signed b true) premises)
      (andThen (forced (rowAllowed (signed a true) (signed b true) premises) o.table) fun w => some ⟨f, w⟩)
/-- From ∀x A, A(t); if ∃x A is false, A(t) is false. -/
def instanced (S : List Declaration) (t : Term) (main : Signed) : Option Signed :=
  Bool.rec (main.formula.onExist none fun s a => guard (t.isOf S s) (some (signed (a.at t) false)))
    (main.formula.onForAll none fun s a => guard (t.isOf S s) (some (signed (a.at t) true))) main.sign
/-- From A(t), ∃x A; if A(t) is false, ∀x A is false. -/
def generalised (S : List Declaration) (f : Formula) (t : Term) (premise : Signed) : Option Signed :=
  f.onForAll
    (f.onExist none fun s a => guard (both (t.isOf S s) (premise.beq (signed (a.at t) true))) (some ⟨f, true⟩))
    fun s a => guard (both (t.isOf S s) (premise.beq (signed (a.at t) false))) (some ⟨f, false⟩)
/-- From a formula that is both true and false, ⊥. -/
def contradicted (s t : Signed) : Option Signed :=
  guard (both (s.formula.beq t.formula) (opposite (same s.sign t.sign))) (some falsum)
/-- ⊤ is true and ⊥ is false. -/
def constantValue (f : Formula) : Option Signed :=
  Bool.rec (Bool.rec none (some ⟨.bottom, false⟩) (f.beq .bottom)) (some ⟨.top, true⟩) (f.beq .top)

/-- Whether two terms are the same, or are `s` and `t` in one order or the other. -/
def exchanged (s t a b : Term) : Bool :=
  either (a.beq b) (either (both (a.beq s) (b.beq t)) (both (a.beq t) (b.beq s)))
mutual
/-- Whether two terms are the same but for terms that may stand for each other. -/
def Term.differBy (may : Term → Term → Bool) : Term → Term → Bool
  | .app f us, .app g vs => either (may (.app f us) (.app g vs)) (both (Nat.beq f g) (us.differBy may vs))
  | a, b => may a b
def Terms.differBy (may : Term → Term → Bool) : Terms → Terms → Bool
  | .nil, .nil => true
  | .cons a us, .cons b vs => both (a.differBy may b) (us.differBy may vs)
  | _, _ => false
end
/-- Whether two formulas are the same, or atoms or equations that are but for terms that may stand for each other. -/
def Formula.differBy (may : Term → Term → Bool) (a b : Formula) : Bool :=
  either (a.beq b)
    (a.onAtom (a.onEqual false fun s t => b.onEqual false fun s' t' => both (s.differBy may s') (t.differBy may t'))
      fun p us => b.onAtom false fun q vs => both (Nat.beq p q) (us.differBy may vs))
/-- The formula, if it is `s = t → (A → B)` where A and B differ by s and t. -/
def leibnizLaw (f : Formula) : Option Signed :=
  f.onBinary none fun o e g => e.onEqual none fun s t => g.onBinary none fun o' a b =>
    guard (both (both (o.beq .implies) (o'.beq .implies)) (a.differBy (exchanged s t) b)) (some ⟨f, true⟩)

/-! ## Proofs -/

/-- A line that has no block and brings in no constant; a number says how many lines ago the other line was. -/
inductive Rule where
  | again (n : Nat)
  | eliminate (main : Nat) (left : Bool) (other : List Nat)
  | introduce (f : Formula) (premises : List Nat)
  | instantiate (main : Nat) (t : Term)
  | generalise (f : Formula) (premise : Nat) (t : Term)
  | contradiction (first second : Nat)
  | truth (f : Formula)
  | reflexivity (t : Term)
  | leibniz (f : Formula)
  | apply (ago : Nat) (v : Values) (premises : List Nat)

/-- A block: its lines, one after the other. -/
inductive Lines where
  | done
  | line (r : Rule) (rest : Lines)
  | witness (main : Nat) (c : Nat) (rest : Lines)
  | arbitrary (f : Formula) (c : Nat) (block rest : Lines)
  | suppose (f : Formula) (block rest : Lines)
  | absurd (f : Formula) (block rest : Lines)

/-- A derivation: the sorts of the constants that its lines bring in, and the lines. -/
structure Derivation where
  constants : List (Prod Nat Nat)
  lines : Lines

/-- A theorem: a claim about letters, with a derivation. Its constants are letters of the default sort. -/
structure Lemma where
  claim : Claim
  derivation : Derivation

/-- A proof: theorems, the later ones by the earlier ones, and a derivation by all of them. -/
structure Proof where
  lemmas : List Lemma
  derivation : Derivation

/-! ## The checker -/

/-- Whether signed formulas are those that say that the formulas are true. -/
def areSigned (formulas : List Formula) : List Signed → Bool :=
  formulas.rec (motive := fun _ => List Signed → Bool) (fun given => given.casesOn true fun _ _ => false)
    fun f _ rest given => given.casesOn false fun s given => both (s.beq (signed f true)) (rest given)
/-- Whether each constant letter stands for a term, and all terms are of the sort that the default sort stands for. -/
def Values.fit (S : List Declaration) (v : Values) (letters : List Declaration) : Bool :=
  both (allOf (fun pair : Prod Nat Term => pair.snd.isOf S v.sort) v.constants)
    (allOf (fun k => both (Nat.beq k.result 0) (accepts (lookup k.function v.constants) fun _ => true)) letters)
/-- The conclusion of an instance of a theorem, from the instances of its premises. -/
def applied (S : List Declaration) (v : Values) (premises : List Signed) (l : Lemma) : Option Signed :=
  guard (both (v.fit S l.claim.sorts)
      (areSigned (l.claim.premises.rec .nil fun a _ rest => .cons (a.instanceOf v .var) rest) premises))
    (some (signed (l.claim.conclusion.instanceOf v .var) true))

/-- What a line says, if it follows from the lines before it, the last one first. -/
def Rule.says (L : List Lemma) (S : List Declaration) (G : List Signed) (r : Rule) : Option Signed :=
  r.casesOn (fun n => nth G n)
    (fun n left other => andThen (nth G n) fun m => andThen (nths G other) fun ps => eliminated left ps m)
    (fun f ns => andThen (nths G ns) fun ps => introduced ps f)
    (fun n t => andThen (nth G n) (instanced S t))
    (fun f n t => andThen (nth G n) (generalised S f t))
    (fun n m => andThen (nth G n) fun s => andThen (nth G m) (contradicted s))
    constantValue
    (fun t => some ⟨.equal t t, true⟩)
    leibnizLaw
    fun n v ns => andThen (nth L n) fun l => andThen (nths G ns) fun ps => applied S v ps l

/-- Whether the constant has no place in the lines, and its declarations say that it is of the sort. -/
def isNew (S : List Declaration) (G : List Signed) (c s : Nat) : Bool :=
  both (allOf (fits c s) S) (opposite (anyOf (fun a : Signed => a.has c) G))
/-- What is known of a new constant from ∃x A, or if ∀x A is false. -/
def witnessed (S : List Declaration) (G : List Signed) (c : Nat) (main : Signed) : Option Signed :=
  Bool.rec (main.formula.onForAll none fun s a => guard (isNew S G c s) (some (signed (a.at (.const c)) false)))
    (main.formula.onExist none fun s a => guard (isNew S G c s) (some (signed (a.at (.const c)) true))) main.sign
/-- Whether ∀x A is what a block may show, or that ∃x A is false, and what the block has to show of a new constant. -/
def generalGoal (S : List Declaration) (G : List Signed) (c : Nat) (f : Formula) : Option (Prod Bool Signed) :=
  f.onForAll
    (f.onExist none fun s a => guard (both (opposite (a.has c)) (isNew S G c s))
      (some ⟨false, signed (a.at (.const c)) false⟩))
    fun s a => guard (both (opposite (a.has c)) (isNew S G c s)) (some ⟨true, signed (a.at (.const c)) true⟩)

/-- What the last line of a block says, if all lines follow; `last` is what the line before them says, if there is one. -/
def Lines.run (L : List Lemma) (S : List Declaration) (p : Lines) : List Signed → Option Signed → Option Signed :=
  p.rec (motive := fun _ => List Signed → Option Signed → Option Signed) (fun _ last => last)
    (fun r _ rest G _ => andThen (r.says L S G) fun s => rest (.cons s G) (some s))
    (fun n c _ rest G _ => andThen (nth G n) fun m => andThen (witnessed S G c m) fun s =>
      andThen (rest (.cons s G) (some s)) fun r => guard (opposite (r.has c)) (some r))
    (fun f c _ _ block rest G _ => andThen (generalGoal S G c f) fun goal =>
      andThen (block G none) fun r => guard (closes goal.snd r)
        (rest (.cons ⟨f, goal.fst⟩ G) (some ⟨f, goal.fst⟩)))
    (fun f _ _ block rest G _ => f.onBinary none fun o a b => guard (o.beq .implies)
      (andThen (block (.cons (signed a true) G) none) fun r => guard (closes (signed b true) r)
        (rest (.cons ⟨f, true⟩ G) (some ⟨f, true⟩))))
    (fun f _ _ block rest G _ => andThen (block (.cons (signed f true) G) none) fun r => guard (r.beq falsum)
      (rest (.cons (signed f false) G) (some (signed f false))))

/-! Names. A constant that a line says is new must not have been named before, not even in a block that has ended.
Soundness does not need this: it makes proofs readable, and the checker in Python requires it. -/

/-- Terms and formulas that were named, each as a formula. -/
def Rule.names (r : Rule) (seen : List Formula) : List Formula :=
  let term (t : Term) : List Formula := .cons (.equal t t) seen
  r.casesOn (fun _ => seen) (fun _ _ _ => seen) (fun f _ => .cons f seen) (fun _ t => term t)
    (fun f _ t => .cons f (term t)) (fun _ _ => seen) (fun _ => seen) term (fun f => .cons f seen)
    fun _ v _ => v.predicates.rec (v.constants.rec seen fun pair _ rest => .cons (.equal pair.snd pair.snd) rest)
      fun pair _ rest => .cons pair.snd rest
/-- What was named before the constant, and the constant, if it was not. -/
def named (c : Nat) (seen : List Formula) : Option (List Formula) :=
  guard (opposite (anyOf (Formula.has c) seen)) (some (.cons (.equal (.const c) (.const c)) seen))
/-- What the lines name; none if a constant that one says is new was named before. -/
def Lines.names (p : Lines) : List Formula → Option (List Formula) :=
  p.rec (motive := fun _ => List Formula → Option (List Formula)) some
    (fun r _ rest seen => rest (r.names seen))
    (fun _ c _ rest seen => andThen (named c seen) rest)
    (fun f c _ _ block rest seen => andThen (named c (.cons f seen)) fun seen => andThen (block seen) rest)
    (fun f _ _ block rest seen => andThen (block (.cons f seen)) rest)
    (fun f _ _ block rest seen => andThen (block (.cons f seen)) rest)

/-- The declarations with those of constants. -/
def declare (constants : List (Prod Nat Nat)) (S : List Declaration) : List Declaration :=
  constants.rec S fun pair _ rest => .cons ⟨pair.fst, .nil, pair.snd⟩ rest
/-- Whether constants are none of the claim, and all different. -/
def areOwn (constants : List (Prod Nat Nat)) (c : Claim) : Bool :=
  constants.rec true fun pair others rest => both rest
    (both (opposite (anyOf (fun k : Declaration => Nat.beq k.function pair.fst) (declare others c.sorts)))
      (opposite (anyOf (Formula.has pair.fst) (.cons c.conclusion c.premises))))
/-- The premises as lines, the last one first, before other lines. -/
def given (premises : List Formula) : List Signed → List Signed :=
  premises.rec (motive := fun _ => List Signed → List Signed) (fun G => G) fun a _ rest G => rest (.cons (signed a true) G)

/-- Whether a derivation shows the claim, by theorems. -/
def Derivation.shows (L : List Lemma) (c : Claim) (d : Derivation) : Bool :=
  both (areOwn d.constants c)
    (both (accepts (d.lines.names (.cons c.conclusion c.premises)) fun _ => true)
      (accepts (d.lines.run L (declare d.constants c.sorts) (given c.premises .nil) none) (closes (signed c.conclusion true))))
/-- The theorems, the last one first, if each is shown by those before it. -/
def proved (lemmas : List Lemma) : List Lemma → Option (List Lemma) :=
  lemmas.rec (motive := fun _ => List Lemma → Option (List Lemma)) some fun l _ rest L =>
    guard (l.derivation.shows L l.claim) (rest (.cons l L))
/-- Whether a proof shows the claim. -/
def check (c : Claim) (p : Proof) : Bool := accepts (proved p.lemmas .nil) fun L => p.derivation.shows L c
/-- What the checker says of a proof. It is no plain equation, which Lean would evaluate twice. -/
def Answers (c : Claim) (p : Proof) (accepted : Bool) : Prop := Eq (check c p) accepted

end
end ProofR1.Checker
