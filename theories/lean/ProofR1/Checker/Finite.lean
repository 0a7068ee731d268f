module
public import ProofR1.Checker.Trace
/-!
Finite models as tables, truth in them by evaluation, and countermodels.

The elements of a sort are the numbers from 0 to its last one. Sorts share elements.
-/
@[expose] public section
namespace ProofR1.Checker
noncomputable section

/-! ## Tables -/

/-- The values of a symbol: one value for all arguments that are left, or a table for the first argument 0 and one for
the first argument minus 1. -/
inductive Table where
  | value (n : Nat)
  | cases (zero : Table) (succ : Table)

/-- The value at arguments. -/
def Table.at (t : Table) : List Nat → Nat :=
  t.rec (motive := fun _ => List Nat → Nat) (fun n _ => n) fun _ _ zero succ l =>
    l.casesOn 0 fun d l => d.casesOn (zero l) fun d => succ (.cons d l)

/-- A finite structure: the last element of each sort, the tables of functions by their numbers, and those of
predicates, whose value 0 means false. -/
structure Tables where
  last : List Nat
  functions : Choice Table
  predicates : Choice Table

/-- The last element of a sort; 0 if there is none. -/
def Tables.lastOf (T : Tables) (s : Nat) : Nat := (nth T.last s).rec 0 fun n => n
/-- Whether an element is of the sort. -/
def Tables.is (T : Tables) (s d : Nat) : Bool := Nat.ble d (T.lastOf s)
/-- The value of a function. -/
def Tables.function (T : Tables) (f : Nat) (l : List Nat) : Nat := (T.functions.of f).at l
/-- The value of a predicate. -/
def Tables.predicate (T : Tables) (p : Nat) (l : List Nat) : Bool :=
  Nat.rec false (fun _ _ => true) ((T.predicates.of p).at l)
/-- By cases, as not every release of Lean says it in one equation. -/
theorem ble_zero : (n : Nat) → Eq (Nat.ble .zero n) true
  | .zero => rfl
  | .succ _ => rfl
/-- The model that the tables describe. -/
def Tables.model (T : Tables) : Model Nat where
  is s d := Eq (T.is s d) true
  element _ := 0
  element_is s := ble_zero (T.lastOf s)
  function := T.function
  predicate p l := Eq (T.predicate p l) true

/-! ## Evaluation -/

/-- Whether the test accepts all numbers up to the last one. -/
def upTo (test : Nat → Bool) (last : Nat) : Bool := last.rec (test 0) fun n rest => both (test (.succ n)) rest
/-- The value of a term, where `e` gives those of variables. -/
def Term.eval (T : Tables) (e : Nat → Nat) : Term → Nat :=
  @Term.rec (fun _ => Nat) (fun _ => List Nat) e (fun f _ args => T.function f args) .nil fun _ _ first rest =>
    .cons first rest
def Terms.eval (T : Tables) (e : Nat → Nat) : Terms → List Nat :=
  @Terms.rec (fun _ => Nat) (fun _ => List Nat) e (fun f _ args => T.function f args) .nil fun _ _ first rest =>
    .cons first rest
/-- Whether a formula is true, where `e` gives the values of variables. -/
def Formula.eval (T : Tables) (a : Formula) : (Nat → Nat) → Bool :=
  a.rec (motive := fun _ => (Nat → Nat) → Bool) (fun _ => Bool.true) (fun _ => Bool.false)
    (fun p ts e => T.predicate p (ts.eval T e))
    (fun s t e => Nat.beq (s.eval T e) (t.eval T e))
    (fun _ body e => opposite (body e))
    (fun o _ _ left right e => o.table (left e) (right e))
    (fun s _ body e => upTo (fun d => body (push d e)) (T.lastOf s))
    (fun s _ body e => opposite (upTo (fun d => opposite (body (push d e))) (T.lastOf s)))

theorem ble_succ : (d n : Nat) → Eq (Nat.ble d (.succ n)) true → Or (Eq (Nat.ble d n) true) (Eq d (.succ n))
  | .zero, n, _ => .inl (ble_zero n)
  | .succ .zero, .zero, _ => .inr rfl
  | .succ (.succ _), .zero, h => Bool.noConfusion h
  | .succ d, .succ n, h => (ble_succ d n h).elim .inl fun same => .inr (congrArg Nat.succ same)
theorem ble_refl : (n : Nat) → Eq (Nat.ble n n) true
  | .zero => rfl
  | .succ n => ble_refl n
theorem ble_step : (d n : Nat) → Eq (Nat.ble d n) true → Eq (Nat.ble d (.succ n)) true
  | .zero, n, _ => ble_zero (.succ n)
  | .succ d, .succ n, h => ble_step d n h
theorem upTo_says {test : Nat → Bool} {p : Nat → Prop} (h : ∀ d, Says (test d) (p d)) : (last : Nat) →
    Says (upTo test last) (∀ d, Eq (Nat.ble d last) true → p d)
  | .zero =>
    have go : (b : Bool) → Says b (p 0) → Says b (∀ d, Eq (Nat.ble d 0) true → p d)
      | true, h => fun d _ => match d with | .zero => h
      | false, h => fun all => h (all 0 rfl)
    go _ (h 0)
  | .succ n =>
    have go : (a b : Bool) → Says a (p (.succ n)) → Says b (∀ d, Eq (Nat.ble d n) true → p d) →
        Says (both a b) (∀ d, Eq (Nat.ble d (.succ n)) true → p d)
      | true, true, h, rest => fun d le => (ble_succ d n le).elim (rest d) fun same => same ▸ h
      | true, false, _, rest => fun all => rest fun d le => all d (ble_step d n le)
      | false, _, h, _ => fun all => h (all (.succ n) (ble_refl n))
    go _ _ (h (.succ n)) (upTo_says h n)
theorem says_opposite {p : Prop} : (b : Bool) → Says b p → Says (opposite b) (Not p)
  | true, h => fun n => n h
  | false, h => h
theorem exist_says {q p : Nat → Prop} : (b : Bool) → Says b (∀ d, q d → Not (p d)) →
    Says (opposite b) (Exists fun d => And (q d) (p d))
  | true, no => fun found => found.elim fun d h => no d h.left h.right
  | false, n => (Classical.em (Exists fun d => And (q d) (p d))).elim (fun h => h) fun no =>
    absurd (fun d hq hp => no ⟨d, hq, hp⟩) n

mutual
theorem Term.eval_value (T : Tables) (e : Nat → Nat) : (t : Term) → Eq (t.eval T e) (t.value T.model e)
  | .var _ => rfl
  | .app f ts => congrArg (T.function f) (Terms.eval_values T e ts)
theorem Terms.eval_values (T : Tables) (e : Nat → Nat) : (ts : Terms) → Eq (ts.eval T e) (ts.values T.model e)
  | .nil => rfl
  | .cons t ts => congr2 List.cons (Term.eval_value T e t) (Terms.eval_values T e ts)
end
theorem beq_says (n m : Nat) : Says (Nat.beq n m) (Eq n m) :=
  have go : (b : Bool) → Eq (Nat.beq n m) b → Says b (Eq n m)
    | true, h => Nat.eq_of_beq_eq_true h
    | false, h => fun same => not_both (beq_refl m) (same ▸ h)
  go _ rfl
/-- Evaluation says whether a formula is true in the model. -/
theorem eval_says (T : Tables) : (a : Formula) → (e : Nat → Nat) → Says (a.eval T e) (a.true T.model e)
  | .top, _ => .intro
  | .bottom, _ => fun h : False => h
  | .atom p ts, e => Eq.mp (congrArg (fun l => Says (T.predicate p (ts.eval T e)) (Eq (T.predicate p l) true))
      (Terms.eval_values T e ts)) (says_is_true _)
  | .equal s t, e => Eq.mp (congr2 (fun n m => Says (Nat.beq (s.eval T e) (t.eval T e)) (Eq n m))
      (Term.eval_value T e s) (Term.eval_value T e t)) (beq_says _ _)
  | .not a, e => says_opposite _ (eval_says T a e)
  | .binary o a b, e => o.table_says _ _ (eval_says T a e) (eval_says T b e)
  | .forAll s a, e => upTo_says (fun d => eval_says T a (push d e)) (T.lastOf s)
  | .exist s a, e => exist_says _ (upTo_says (fun d => says_opposite _ (eval_says T a (push d e))) (T.lastOf s))

/-! ## Countermodels -/

/-- Whether the test accepts all arguments of the sorts. -/
def Tables.everywhere (T : Tables) (sorts : List Nat) : (List Nat → Bool) → Bool :=
  sorts.rec (motive := fun _ => (List Nat → Bool) → Bool) (fun test => test .nil) fun s _ rest test =>
    upTo (fun d => rest fun l => test (.cons d l)) (T.lastOf s)
/-- Whether the functions have values of the declared sorts. -/
def Tables.obeys (T : Tables) (S : List Declaration) : Bool :=
  allOf (fun k => T.everywhere k.arguments fun l => T.is k.result (T.function k.function l)) S
/-- Whether the premises are true and the conclusion is false. -/
def refutes (T : Tables) (c : Claim) : Bool :=
  both (T.obeys c.sorts)
    (both (allOf (fun a => a.eval T fun _ => 0) c.premises) (opposite (c.conclusion.eval T fun _ => 0)))

theorem upTo_true {test : Nat → Bool} {last d : Nat} (h : Eq (upTo test last) true) (le : Eq (Nat.ble d last) true) :
    Eq (test d) true :=
  says_true h (upTo_says (fun d => says_is_true (test d)) last) d le
theorem everywhere_true (T : Tables) : (sorts : List Nat) → (test : List Nat → Bool) →
    Eq (T.everywhere sorts test) true → (l : List Nat) → Are T.model sorts l → Eq (test l) true
  | .nil, _, h, .nil, _ => h
  | .cons s sorts, test, h, .cons d l, are =>
    have h : Eq (upTo (fun d => T.everywhere sorts fun l => test (.cons d l)) (T.lastOf s)) true := h
    everywhere_true T sorts (fun l => test (.cons d l)) (upTo_true h are.left) l are.right
theorem obeys_true (T : Tables) (S : List Declaration) (h : Eq (T.obeys S) true) : Each (Obeys T.model) S :=
  each_imp (fun _ h l are => everywhere_true T _ _ h l are) S (each_of_all S h)

/-- A claim with a countermodel does not hold. -/
theorem refutes_sound {T : Tables} {c : Claim} (h : Eq (refutes T c) true) : c.Fails :=
  fun holds => both_true h fun obeys h => both_true h fun premises conclusion =>
    says_false (opposite_true conclusion) (eval_says T c.conclusion fun _ => 0)
      (holds Nat T.model (fun _ => 0) (obeys_true T c.sorts obeys)
        (each_imp (fun a h => says_true h (eval_says T a fun _ => 0)) c.premises (each_of_all c.premises premises)))

/-! ## Models of premises -/

/-- Whether the premises of a problem are true. -/
def Tables.isModel (T : Tables) (P : Problem) : Bool :=
  both (T.obeys P.sorts) (allOf (fun a => a.eval T fun _ => 0) P.premises)
/-- The premises have a model. -/
def Problem.Consistent (P : Problem) : Prop :=
  Exists fun M : Model Nat => Exists fun e => And (Each (Obeys M) P.sorts) (Each (fun a => a.true M e) P.premises)

theorem isModel_sound {T : Tables} {P : Problem} (h : Eq (T.isModel P) true) : P.Consistent :=
  both_true h fun obeys premises => ⟨T.model, fun _ => 0, obeys_true T P.sorts obeys,
    each_imp (fun a h => says_true h (eval_says T a fun _ => 0)) P.premises (each_of_all P.premises premises)⟩
/-- Conditional soundness that is not vacuous: the premises entail the formula of the option, and they have a model. -/
theorem answer_sound.{u} {P : Problem} {t : Trace} {T : Tables} (h : Eq (checkTrace P t) true)
    (k : Eq (T.isModel P) true) : And (Problem.Entails.{u} P t.option) P.Consistent :=
  ⟨trace_sound h, isModel_sound k⟩

end
end ProofR1.Checker
