module
public import ProofR1.Checker.Syntax
/-!
What formulas mean: models, truth and entailment, and what substitution, patterns and new constants do to truth.
-/
@[expose] public section
namespace ProofR1.Checker
noncomputable section
universe u

/-! ## Models -/

/-- A model: each sort is a part of one domain, with an element; functions and predicates take lists of elements. -/
structure Model (D : Type u) where
  is : Nat → D → Prop
  element : Nat → D
  element_is : ∀ s, is s (element s)
  function : Nat → List D → D
  predicate : Nat → List D → Prop

/-- The sorts of a function's arguments and values. -/
structure Declaration where
  function : Nat
  arguments : List Nat
  result : Nat

section
variable {D : Type u}

/-- The values of variables inside a quantifier, whose own variable has the value `d`. -/
def push (d : D) (e : Nat → D) : Nat → D
  | .zero => d
  | .succ n => e n

mutual
/-- The value of a term, where `e` gives those of variables. -/
def Term.value (M : Model D) (e : Nat → D) : Term → D
  | .var n => e n
  | .app f ts => M.function f (ts.values M e)
def Terms.values (M : Model D) (e : Nat → D) : Terms → List D
  | .nil => .nil
  | .cons t ts => .cons (t.value M e) (ts.values M e)
end

/-- What a connective says of two propositions. -/
def Connective.says (o : Connective) (p q : Prop) : Prop :=
  match o with
  | .and => And p q
  | .or => Or p q
  | .xor => Or (And p (Not q)) (And q (Not p))
  | .implies => p → q
  | .iff => Iff p q

/-- The formula is true in the model, where `e` gives the values of free variables. -/
def Formula.true (M : Model D) : Formula → (Nat → D) → Prop
  | .top, _ => True
  | .bottom, _ => False
  | .atom p ts, e => M.predicate p (ts.values M e)
  | .equal s t, e => Eq (s.value M e) (t.value M e)
  | .not a, e => Not (a.true M e)
  | .binary o a b, e => o.says (a.true M e) (b.true M e)
  | .forAll s a, e => ∀ d, M.is s d → a.true M (push d e)
  | .exist s a, e => Exists fun d => And (M.is s d) (a.true M (push d e))

/-- The elements are of the sorts, one by one. -/
def Are (M : Model D) : List Nat → List D → Prop
  | .nil, .nil => True
  | .cons s ss, .cons d ds => And (M.is s d) (Are M ss ds)
  | _, _ => False
/-- The function has values of the declared sort. -/
def Obeys (M : Model D) (k : Declaration) : Prop := ∀ l, Are M k.arguments l → M.is k.result (M.function k.function l)
end

/-- A claim: that the conclusion follows from the premises, where functions have the declared sorts. -/
structure Claim where
  sorts : List Declaration
  premises : List Formula
  conclusion : Formula

/-- The conclusion is true in each model of the premises whose functions have the declared sorts. -/
def Claim.Holds (c : Claim) : Prop :=
  ∀ (D : Type u) (M : Model D) (e : Nat → D), Each (Obeys M) c.sorts → Each (fun a => a.true M e) c.premises →
    c.conclusion.true M e
/-- The claim does not hold, not even for domains that are sets. -/
def Claim.Fails (c : Claim) : Prop := Not (Claim.Holds.{0} c)

/-! ## Substitution -/

section
variable {D : Type u} (M : Model D)

theorem forAll_congr {p q : D → Prop} (h : ∀ d, Eq (p d) (q d)) : Eq (∀ d, p d) (∀ d, q d) :=
  congrArg (fun r : D → Prop => ∀ d, r d) (funext h)
theorem exist_congr {p q : D → Prop} (h : ∀ d, Eq (p d) (q d)) : Eq (Exists fun d => p d) (Exists fun d => q d) :=
  congrArg (fun r : D → Prop => Exists fun d => r d) (funext h)

mutual
theorem Term.value_subst {e e' : Nat → D} {σ : Nat → Term} (h : ∀ n, Eq ((σ n).value M e) (e' n)) :
    (t : Term) → Eq ((t.subst σ).value M e) (t.value M e')
  | .var n => h n
  | .app f ts => congrArg (M.function f) (Terms.values_subst h ts)
theorem Terms.values_subst {e e' : Nat → D} {σ : Nat → Term} (h : ∀ n, Eq ((σ n).value M e) (e' n)) :
    (ts : Terms) → Eq ((ts.subst σ).values M e) (ts.values M e')
  | .nil => rfl
  | .cons t ts => congr2 List.cons (Term.value_subst h t) (Terms.values_subst h ts)
end
theorem Term.value_shift (d : D) (e : Nat → D) (t : Term) : Eq (t.shift.value M (push d e)) (t.value M e) :=
  Term.value_subst M (fun _ => rfl) t
theorem under_value {e e' : Nat → D} {σ : Nat → Term} (h : ∀ n, Eq ((σ n).value M e) (e' n)) (d : D) :
    (n : Nat) → Eq ((under σ n).value M (push d e)) (push d e' n)
  | .zero => rfl
  | .succ n => (Term.value_shift M d e (σ n)).trans (h n)

/-- The substitution lemma: a formula with terms for variables says what it says of the values of the terms. -/
theorem Formula.true_subst : (a : Formula) → (σ : Nat → Term) → (e e' : Nat → D) → (∀ n, Eq ((σ n).value M e) (e' n)) →
    Eq ((a.subst σ).true M e) (a.true M e')
  | .top, _, _, _, _ => rfl
  | .bottom, _, _, _, _ => rfl
  | .atom p ts, _, _, _, h => congrArg (M.predicate p) (Terms.values_subst M h ts)
  | .equal s t, _, _, _, h => congr2 Eq (Term.value_subst M h s) (Term.value_subst M h t)
  | .not a, σ, e, e', h => congrArg Not (Formula.true_subst a σ e e' h)
  | .binary o a b, σ, e, e', h => congr2 o.says (Formula.true_subst a σ e e' h) (Formula.true_subst b σ e e' h)
  | .forAll s a, σ, e, e', h => forAll_congr fun d => congrArg (fun q : Prop => M.is s d → q)
    (Formula.true_subst a (under σ) (push d e) (push d e') (under_value M h d))
  | .exist s a, σ, e, e', h => exist_congr fun d => congrArg (And (M.is s d))
    (Formula.true_subst a (under σ) (push d e) (push d e') (under_value M h d))

theorem Formula.true_at (a : Formula) (t : Term) (e : Nat → D) :
    Eq ((a.at t).true M e) (a.true M (push (t.value M e) e)) :=
  Formula.true_subst M a (single t) e (push (t.value M e) e) fun n => match n with
    | .zero => rfl
    | .succ _ => rfl

/-! ## Instances of patterns -/

/-- The elements before the values of the variables. -/
def before (l : List D) (e : Nat → D) : Nat → D :=
  match l with
  | .nil => e
  | .cons d l => push d (before l e)
theorem arguments_value {e₀ e : Nat → D} {ρ : Nat → Term} (h : ∀ n, Eq ((ρ n).value M e) (e₀ n)) :
    (ts : Terms) → (n : Nat) → Eq ((arguments ts ρ n).value M e) (before (ts.values M e) e₀ n)
  | .nil, n => h n
  | .cons _ _, .zero => rfl
  | .cons _ ts, .succ n => arguments_value h ts n

/-- The model in which the letters of patterns mean what they stand for, where `e` gives the values' free variables. -/
def Model.letters (M : Model D) (v : Values) (e : Nat → D) : Model D where
  is s := M.is (v.sortOf s)
  element s := M.element (v.sortOf s)
  element_is s := M.element_is (v.sortOf s)
  function f l := (lookup f v.constants).rec (M.function f l) fun t => t.value M e
  predicate p l := (lookup p v.predicates).rec (M.predicate p l) fun b => b.true M (before l e)

mutual
theorem Term.value_instance (v : Values) {e₀ e : Nat → D} {ρ : Nat → Term} (h : ∀ n, Eq ((ρ n).value M e) (e₀ n)) :
    (t : Term) → Eq ((t.instanceOf v ρ).value M e) (t.value (M.letters v e₀) e)
  | .var _ => rfl
  | .app f ts =>
    have go : (o : Option Term) → Eq (Term.value M e (o.rec (.app f (ts.instanceOf v ρ)) fun t => t.subst ρ))
        (o.rec (M.function f (ts.values (M.letters v e₀) e)) fun t => t.value M e₀)
      | none => congrArg (M.function f) (Terms.values_instance v h ts)
      | some t => Term.value_subst M h t
    go (lookup f v.constants)
theorem Terms.values_instance (v : Values) {e₀ e : Nat → D} {ρ : Nat → Term} (h : ∀ n, Eq ((ρ n).value M e) (e₀ n)) :
    (ts : Terms) → Eq ((ts.instanceOf v ρ).values M e) (ts.values (M.letters v e₀) e)
  | .nil => rfl
  | .cons t ts => congr2 List.cons (Term.value_instance v h t) (Terms.values_instance v h ts)
end

/-- An instance of a pattern says what the pattern says if its letters mean what they stand for. -/
theorem Formula.true_instance (v : Values) (e₀ : Nat → D) : (a : Formula) → (ρ : Nat → Term) → (e : Nat → D) →
    (∀ n, Eq ((ρ n).value M e) (e₀ n)) → Eq ((a.instanceOf v ρ).true M e) (a.true (M.letters v e₀) e)
  | .top, _, _, _ => rfl
  | .bottom, _, _, _ => rfl
  | .atom p ts, ρ, e, h =>
    have same : Eq ((ts.instanceOf v ρ).values M e) (ts.values (M.letters v e₀) e) := Terms.values_instance M v h ts
    have go : (o : Option Formula) → Eq
        (Formula.true M (o.rec (.atom p (ts.instanceOf v ρ)) fun b => b.subst (arguments (ts.instanceOf v ρ) ρ)) e)
        (o.rec (M.predicate p (ts.values (M.letters v e₀) e)) fun b => b.true M (before (ts.values (M.letters v e₀) e) e₀))
      | none => congrArg (M.predicate p) same
      | some b => (Formula.true_subst M b _ e _ (arguments_value M h (ts.instanceOf v ρ))).trans
        (congrArg (fun l => b.true M (before l e₀)) same)
    go (lookup p v.predicates)
  | .equal s t, _, _, h => congr2 Eq (Term.value_instance M v h s) (Term.value_instance M v h t)
  | .not a, ρ, e, h => congrArg Not (Formula.true_instance v e₀ a ρ e h)
  | .binary o a b, ρ, e, h => congr2 o.says (Formula.true_instance v e₀ a ρ e h) (Formula.true_instance v e₀ b ρ e h)
  | .forAll s a, ρ, e, h => forAll_congr fun d => congrArg (fun q : Prop => M.is (v.sortOf s) d → q)
    (Formula.true_instance v e₀ a _ (push d e) fun n => (Term.value_shift M d e (ρ n)).trans (h n))
  | .exist s a, ρ, e, h => exist_congr fun d => congrArg (And (M.is (v.sortOf s) d))
    (Formula.true_instance v e₀ a _ (push d e) fun n => (Term.value_shift M d e (ρ n)).trans (h n))
end

/-! ## New constants -/

section
variable {D : Type u}

/-- The model with another value of a constant. -/
def Model.set (M : Model D) (c : Nat) (d : D) : Model D where
  is := M.is
  element := M.element
  element_is := M.element_is
  function f l := cond (Nat.beq f c) d (M.function f l)
  predicate := M.predicate

variable (M : Model D) (c : Nat) (d : D)

mutual
theorem Term.value_set (e : Nat → D) : (t : Term) → Eq (t.has c) false → Eq (t.value (M.set c d) e) (t.value M e)
  | .var _, _ => rfl
  | .app f ts, h => either_false h fun h k =>
    Eq.trans (congrArg (fun b => cond b d (M.function f (ts.values (M.set c d) e))) h)
      (congrArg (M.function f) (Terms.values_set e ts k))
theorem Terms.values_set (e : Nat → D) : (ts : Terms) → Eq (ts.has c) false → Eq (ts.values (M.set c d) e) (ts.values M e)
  | .nil, _ => rfl
  | .cons t ts, h => either_false h fun h k => congr2 List.cons (Term.value_set e t h) (Terms.values_set e ts k)
end
/-- A constant that a formula does not have makes no difference to it. -/
theorem Formula.true_set : (a : Formula) → Eq (a.has c) false → (e : Nat → D) → Eq (a.true (M.set c d) e) (a.true M e)
  | .top, _, _ => rfl
  | .bottom, _, _ => rfl
  | .atom p ts, h, e => congrArg (M.predicate p) (Terms.values_set M c d e ts h)
  | .equal s t, h, e => either_false h fun h k => congr2 Eq (Term.value_set M c d e s h) (Term.value_set M c d e t k)
  | .not a, h, e => congrArg Not (Formula.true_set a h e)
  | .binary o a b, h, e => either_false h fun h k => congr2 o.says (Formula.true_set a h e) (Formula.true_set b k e)
  | .forAll s a, h, e => forAll_congr fun x => congrArg (fun q : Prop => M.is s x → q) (Formula.true_set a h (push x e))
  | .exist s a, h, e => exist_congr fun x => congrArg (And (M.is s x)) (Formula.true_set a h (push x e))
theorem beq_refl : (n : Nat) → Eq (Nat.beq n n) true
  | .zero => rfl
  | .succ n => beq_refl n
theorem value_const (e : Nat → D) : Eq ((Term.const c).value (M.set c d) e) d :=
  congrArg (fun b => cond b d (M.function c .nil)) (beq_refl c)
theorem are_set : (ss : List Nat) → (l : List D) → Are (M.set c d) ss l → Are M ss l
  | .nil, .nil, _ => .intro
  | .cons _ ss, .cons _ l, h => ⟨h.left, are_set ss l h.right⟩

/-- Whether a declaration is about another function, or gives values of the sort. -/
def fits (c s : Nat) (k : Declaration) : Bool := either (opposite (Nat.beq k.function c)) (Nat.beq k.result s)

theorem obeys_set {s : Nat} (is : M.is s d) {k : Declaration} (h : Obeys M k) (f : Eq (fits c s k) true) :
    Obeys (M.set c d) k := fun l a =>
  (true_or_false (Nat.beq k.function c)).elim
    (fun yes => either_true f (fun no => not_both yes (opposite_true no)) fun sort =>
      have is : M.is k.result d :=
        Eq.ndrec (motive := fun r => M.is r d) is (Nat.eq_of_beq_eq_true sort).symm
      Eq.ndrec (a := Bool.true) (motive := fun b => M.is k.result (cond b d (M.function k.function l))) is yes.symm)
    fun no => Eq.ndrec (a := Bool.false) (motive := fun b => M.is k.result (cond b d (M.function k.function l)))
      (h l (are_set M c d k.arguments l a)) no.symm
/-- With a value of the right sort for a constant, the functions still have the declared sorts. -/
theorem each_obeys_set {s : Nat} (is : M.is s d) (S : List Declaration) (h : Each (Obeys M) S)
    (f : Eq (allOf (fits c s) S) true) : Each (Obeys (M.set c d)) S :=
  each_imp (fun _ both => obeys_set M c d is both.left both.right) S (each_and S h (each_of_all S f))
end

/-! ## Sorts of terms -/

/-- Whether a declaration says that the function has values of the sort, where the test accepts the arguments' sorts. -/
def declared (f s : Nat) (test : List Nat → Bool) (k : Declaration) : Bool :=
  both (Nat.beq k.function f) (both (Nat.beq k.result s) (test k.arguments))
/-- Whether there are no sorts; and whether there are, and the test accepts them. -/
def noSorts (ss : List Nat) : Bool := ss.casesOn true fun _ _ => false
def sortsAre (test : Nat → List Nat → Bool) (ss : List Nat) : Bool := ss.casesOn false test
/-- Whether the term has no variable, and is of the sort according to the declarations. -/
def Term.isOf (S : List Declaration) : Term → Nat → Bool :=
  @Term.rec (fun _ => Nat → Bool) (fun _ => List Nat → Bool) (fun _ _ => false)
    (fun f _ args s => anyOf (declared f s args) S) noSorts
    fun _ _ first rest => sortsAre fun s ss => both (first s) (rest ss)
def Terms.areOf (S : List Declaration) : Terms → List Nat → Bool :=
  @Terms.rec (fun _ => Nat → Bool) (fun _ => List Nat → Bool) (fun _ _ => false)
    (fun f _ args s => anyOf (declared f s args) S) noSorts
    fun _ _ first rest => sortsAre fun s ss => both (first s) (rest ss)

section
variable {D : Type u} {M : Model D}
theorem declared_is (f s : Nat) (l : List D) (test : List Nat → Bool) (h : ∀ ss, Eq (test ss) true → Are M ss l) :
    (S : List Declaration) → Each (Obeys M) S → Eq (anyOf (declared f s test) S) true → M.is s (M.function f l)
  | .cons k S, all, m => either_true m
    (fun m => both_true m fun kf m => both_true m fun ks m =>
      have is : M.is k.result (M.function k.function l) := all.left l (h k.arguments m)
      have is : M.is s (M.function k.function l) :=
        Eq.ndrec (motive := fun r => M.is r (M.function k.function l)) is (Nat.eq_of_beq_eq_true ks)
      Eq.ndrec (motive := fun g => M.is s (M.function g l)) is (Nat.eq_of_beq_eq_true kf))
    (declared_is f s l test h S all.right)
mutual
theorem Term.is_of {S : List Declaration} (all : Each (Obeys M) S) (e : Nat → D) : (t : Term) → (s : Nat) →
    Eq (t.isOf S s) true → M.is s (t.value M e)
  | .app f ts, s, h => declared_is f s (ts.values M e) (ts.areOf S) (Terms.are_of all e ts) S all h
theorem Terms.are_of {S : List Declaration} (all : Each (Obeys M) S) (e : Nat → D) : (ts : Terms) → (ss : List Nat) →
    Eq (ts.areOf S ss) true → Are M ss (ts.values M e)
  | .nil, .nil, _ => .intro
  | .cons t ts, .cons s ss, h => both_true h fun h k => ⟨Term.is_of all e t s h, Terms.are_of all e ts ss k⟩
end
end

end
end ProofR1.Checker
