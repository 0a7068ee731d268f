module
public import ProofR1.Checker.Data
/-!
Terms and formulas of many-sorted first-order logic as data, and substitution.

Symbols and sorts are numbers. A bound variable is the number of quantifiers between its place and its own quantifier,
so formulas that differ in the names of bound variables are the same, and nothing is captured. A constant is a function
without arguments.
-/
@[expose] public section
namespace ProofR1.Checker
noncomputable section

mutual
/-- A variable, or a function applied to terms. -/
inductive Term where
  | var (n : Nat)
  | app (f : Nat) (args : Terms)
/-- The arguments of a symbol. -/
inductive Terms where
  | nil
  | cons (t : Term) (rest : Terms)
end

/-- The connectives of two formulas. -/
inductive Connective where
  | and | or | xor | implies | iff

/-- A formula; a quantifier has the sort of its variable. -/
inductive Formula where
  | top
  | bottom
  | atom (p : Nat) (args : Terms)
  | equal (s t : Term)
  | not (a : Formula)
  | binary (o : Connective) (a b : Formula)
  | forAll (s : Nat) (a : Formula)
  | exist (s : Nat) (a : Formula)

/-- The term that is the constant. -/
def Term.const (c : Nat) : Term := .app c .nil

/-! ## Equality -/

/-- What a test says of the parts of a term or of a formula; false if it is of another kind. -/
def Term.ifVar (test : Nat → Bool) (t : Term) : Bool := t.casesOn test fun _ _ => false
def Term.ifApp (test : Nat → Terms → Bool) (t : Term) : Bool := t.casesOn (fun _ => false) test
def Terms.ifNil (ts : Terms) : Bool := ts.casesOn true fun _ _ => false
def Terms.ifCons (test : Term → Terms → Bool) (ts : Terms) : Bool := ts.casesOn false test
/-- Whether two terms are the same. -/
def Term.beq : Term → Term → Bool :=
  @Term.rec (fun _ => Term → Bool) (fun _ => Terms → Bool)
    (fun n => Term.ifVar (Nat.beq n))
    (fun f _ args => Term.ifApp fun g ts => both (Nat.beq f g) (args ts))
    Terms.ifNil fun _ _ first rest => Terms.ifCons fun t ts => both (first t) (rest ts)
def Terms.beq : Terms → Terms → Bool :=
  @Terms.rec (fun _ => Term → Bool) (fun _ => Terms → Bool)
    (fun n => Term.ifVar (Nat.beq n))
    (fun f _ args => Term.ifApp fun g ts => both (Nat.beq f g) (args ts))
    Terms.ifNil fun _ _ first rest => Terms.ifCons fun t ts => both (first t) (rest ts)

/-- A number for each connective. -/
def Connective.number (o : Connective) : Nat := o.rec 0 1 2 3 4
/-- Whether two connectives are the same. -/
def Connective.beq (o o' : Connective) : Bool := Nat.beq o.number o'.number

/-- A function of the parts of a formula by its kind; the default for kinds that have none. -/
def Formula.onAtom {α : Type} (no : α) (yes : Nat → Terms → α) (a : Formula) : α :=
  a.casesOn no no yes (fun _ _ => no) (fun _ => no) (fun _ _ _ => no) (fun _ _ => no) fun _ _ => no
def Formula.onEqual {α : Type} (no : α) (yes : Term → Term → α) (a : Formula) : α :=
  a.casesOn no no (fun _ _ => no) yes (fun _ => no) (fun _ _ _ => no) (fun _ _ => no) fun _ _ => no
def Formula.onNot {α : Type} (no : α) (yes : Formula → α) (a : Formula) : α :=
  a.casesOn no no (fun _ _ => no) (fun _ _ => no) yes (fun _ _ _ => no) (fun _ _ => no) fun _ _ => no
def Formula.onBinary {α : Type} (no : α) (yes : Connective → Formula → Formula → α) (a : Formula) : α :=
  a.casesOn no no (fun _ _ => no) (fun _ _ => no) (fun _ => no) yes (fun _ _ => no) fun _ _ => no
def Formula.onForAll {α : Type} (no : α) (yes : Nat → Formula → α) (a : Formula) : α :=
  a.casesOn no no (fun _ _ => no) (fun _ _ => no) (fun _ => no) (fun _ _ _ => no) yes fun _ _ => no
def Formula.onExist {α : Type} (no : α) (yes : Nat → Formula → α) (a : Formula) : α :=
  a.casesOn no no (fun _ _ => no) (fun _ _ => no) (fun _ => no) (fun _ _ _ => no) (fun _ _ => no) yes
/-- Whether two formulas are the same. -/
def Formula.beq (a : Formula) : Formula → Bool :=
  a.rec (motive := fun _ => Formula → Bool)
    (fun b => b.casesOn true false (fun _ _ => false) (fun _ _ => false) (fun _ => false) (fun _ _ _ => false)
      (fun _ _ => false) fun _ _ => false)
    (fun b => b.casesOn false true (fun _ _ => false) (fun _ _ => false) (fun _ => false) (fun _ _ _ => false)
      (fun _ _ => false) fun _ _ => false)
    (fun p ts => Formula.onAtom false fun q us => both (Nat.beq p q) (ts.beq us))
    (fun s t => Formula.onEqual false fun s' t' => both (s.beq s') (t.beq t'))
    (fun _ body => Formula.onNot false body)
    (fun o _ _ left right => Formula.onBinary false fun o' a b => both (o.beq o') (both (left a) (right b)))
    (fun s _ body => Formula.onForAll false fun s' b => both (Nat.beq s s') (body b))
    (fun s _ body => Formula.onExist false fun s' b => both (Nat.beq s s') (body b))

mutual
theorem Term.eq_of_beq : (s t : Term) → Eq (s.beq t) true → Eq s t
  | .var _, .var _, h => congrArg Term.var (Nat.eq_of_beq_eq_true h)
  | .app _ us, .app _ vs, h => both_true h fun h k =>
    congr2 Term.app (Nat.eq_of_beq_eq_true h) (Terms.eq_of_beq us vs k)
theorem Terms.eq_of_beq : (us vs : Terms) → Eq (us.beq vs) true → Eq us vs
  | .nil, .nil, _ => rfl
  | .cons s us, .cons t vs, h => both_true h fun h k =>
    congr2 Terms.cons (Term.eq_of_beq s t h) (Terms.eq_of_beq us vs k)
end
theorem Connective.eq_of_beq : (o o' : Connective) → Eq (o.beq o') true → Eq o o'
  | .and, .and, _ => rfl
  | .or, .or, _ => rfl
  | .xor, .xor, _ => rfl
  | .implies, .implies, _ => rfl
  | .iff, .iff, _ => rfl
theorem Formula.eq_of_beq : (a b : Formula) → Eq (a.beq b) true → Eq a b
  | .top, .top, _ => rfl
  | .bottom, .bottom, _ => rfl
  | .atom _ us, .atom _ vs, h => both_true h fun h k =>
    congr2 Formula.atom (Nat.eq_of_beq_eq_true h) (Terms.eq_of_beq us vs k)
  | .equal s t, .equal s' t', h => both_true h fun h k =>
    congr2 Formula.equal (Term.eq_of_beq s s' h) (Term.eq_of_beq t t' k)
  | .not a, .not b, h => congrArg Formula.not (Formula.eq_of_beq a b h)
  | .binary o a b, .binary o' a' b', h => both_true h fun h k => both_true k fun k l =>
    Connective.eq_of_beq o o' h ▸ Formula.eq_of_beq a a' k ▸ Formula.eq_of_beq b b' l ▸ rfl
  | .forAll _ a, .forAll _ b, h => both_true h fun h k =>
    congr2 Formula.forAll (Nat.eq_of_beq_eq_true h) (Formula.eq_of_beq a b k)
  | .exist _ a, .exist _ b, h => both_true h fun h k =>
    congr2 Formula.exist (Nat.eq_of_beq_eq_true h) (Formula.eq_of_beq a b k)

/-! ## Substitution -/

/-- The term with others for its variables. -/
def Term.subst (σ : Nat → Term) : Term → Term :=
  @Term.rec (fun _ => Term) (fun _ => Terms) σ (fun f _ args => .app f args) .nil fun _ _ first rest => .cons first rest
def Terms.subst (σ : Nat → Term) : Terms → Terms :=
  @Terms.rec (fun _ => Term) (fun _ => Terms) σ (fun f _ args => .app f args) .nil fun _ _ first rest => .cons first rest
/-- The term as it stands inside one more quantifier. -/
def Term.shift (t : Term) : Term := t.subst fun n => .var (.succ n)
/-- The substitution as it is inside one more quantifier, whose variable stays. -/
def under (σ : Nat → Term) (n : Nat) : Term := n.rec (.var .zero) fun n _ => (σ n).shift
/-- The formula with terms for its free variables. -/
def Formula.subst (a : Formula) : (Nat → Term) → Formula :=
  a.rec (motive := fun _ => (Nat → Term) → Formula) (fun _ => .top) (fun _ => .bottom)
    (fun p ts σ => .atom p (ts.subst σ))
    (fun s t σ => .equal (s.subst σ) (t.subst σ))
    (fun _ body σ => .not (body σ))
    (fun o _ _ left right σ => .binary o (left σ) (right σ))
    (fun s _ body σ => .forAll s (body (under σ)))
    (fun s _ body σ => .exist s (body (under σ)))
/-- The term for the variable 0; the others move down. -/
def single (t : Term) (n : Nat) : Term := n.rec t fun n _ => .var n
/-- The body of a quantified formula, with a term for its variable. -/
def Formula.at (a : Formula) (t : Term) : Formula := a.subst (single t)

/-! ## Letters of patterns -/

/-- What a number stands for in a list of pairs, if it is there. -/
def lookup {α : Type} (n : Nat) (pairs : List (Prod Nat α)) : Option α :=
  pairs.rec none fun pair _ rest => cond (Nat.beq pair.fst n) (some pair.snd) rest

/-- What the letters of patterns stand for: the default sort for another, predicates for formulas whose first variables
are the arguments, and constants for terms. Other symbols stand for themselves. -/
structure Values where
  sort : Nat
  predicates : List (Prod Nat Formula)
  constants : List (Prod Nat Term)

/-- What a sort stands for. -/
def Values.sortOf (v : Values) (s : Nat) : Nat := s.rec v.sort fun n _ => .succ n
/-- The first variables are the terms; the others are those of the substitution. -/
def arguments (ts : Terms) : (Nat → Term) → Nat → Term :=
  @Terms.rec (fun _ => PUnit) (fun _ => (Nat → Term) → Nat → Term) (fun _ => .unit) (fun _ _ _ => .unit) (fun ρ => ρ)
    (fun t _ _ rest ρ n => n.rec t fun n _ => rest ρ n) ts
/-- The instance of a term of a pattern, where `ρ` says what the free variables of the values are at this place. -/
def Term.instanceOf (v : Values) (ρ : Nat → Term) : Term → Term :=
  @Term.rec (fun _ => Term) (fun _ => Terms) Term.var
    (fun f _ args => (lookup f v.constants).rec (.app f args) fun t => t.subst ρ)
    .nil fun _ _ first rest => .cons first rest
def Terms.instanceOf (v : Values) (ρ : Nat → Term) : Terms → Terms :=
  @Terms.rec (fun _ => Term) (fun _ => Terms) Term.var
    (fun f _ args => (lookup f v.constants).rec (.app f args) fun t => t.subst ρ)
    .nil fun _ _ first rest => .cons first rest
/-- The instance of a pattern, where `ρ` says what the free variables of the values are at this place. -/
def Formula.instanceOf (v : Values) (a : Formula) : (Nat → Term) → Formula :=
  a.rec (motive := fun _ => (Nat → Term) → Formula) (fun _ => .top) (fun _ => .bottom)
    (fun p ts ρ => (lookup p v.predicates).rec (.atom p (ts.instanceOf v ρ)) fun b => b.subst (arguments (ts.instanceOf v ρ) ρ))
    (fun s t ρ => .equal (s.instanceOf v ρ) (t.instanceOf v ρ))
    (fun _ body ρ => .not (body ρ))
    (fun o _ _ left right ρ => .binary o (left ρ) (right ρ))
    (fun s _ body ρ => .forAll (v.sortOf s) (body fun n => (ρ n).shift))
    (fun s _ body ρ => .exist (v.sortOf s) (body fun n => (ρ n).shift))

/-! ## Occurrence -/

/-- Whether a function or constant occurs. -/
def Term.has (c : Nat) : Term → Bool :=
  @Term.rec (fun _ => Bool) (fun _ => Bool) (fun _ => false) (fun f _ args => either (Nat.beq f c) args) false
    fun _ _ first rest => either first rest
def Terms.has (c : Nat) : Terms → Bool :=
  @Terms.rec (fun _ => Bool) (fun _ => Bool) (fun _ => false) (fun f _ args => either (Nat.beq f c) args) false
    fun _ _ first rest => either first rest
def Formula.has (c : Nat) (a : Formula) : Bool :=
  a.rec false false (fun _ ts => ts.has c) (fun s t => either (s.has c) (t.has c)) (fun _ body => body)
    (fun _ _ _ left right => either left right) (fun _ _ body => body) fun _ _ body => body

end
end ProofR1.Checker
