module
public import ProofR1.Checker.Proof
/-!
What the checker accepts is entailed: `check_sound`.
-/
@[expose] public section
namespace ProofR1.Checker
noncomputable section
universe u

/-! ## Signed formulas -/

section
variable {D : Type u} (M : Model D) (e : Nat → D)

/-- What the line says is so. -/
def Signed.holds (s : Signed) : Prop := Says s.sign (s.formula.true M e)

theorem signed_holds : (a : Formula) → (sign : Bool) → Eq ((signed a sign).holds M e) (Says sign (a.true M e))
  | .not a, sign => (signed_holds a (opposite sign)).trans (says_not sign)
  | .top, _ => rfl
  | .bottom, _ => rfl
  | .atom _ _, _ => rfl
  | .equal _ _, _ => rfl
  | .binary _ _ _, _ => rfl
  | .forAll _ _, _ => rfl
  | .exist _ _, _ => rfl
theorem holds_set (c : Nat) (d : D) (s : Signed) (h : Eq (s.has c) false) : Eq (s.holds (M.set c d) e) (s.holds M e) :=
  congrArg (Says s.sign) (Formula.true_set M c d s.formula h e)
theorem each_holds_set (c : Nat) (d : D) (G : List Signed) (h : Eq (anyOf (fun a : Signed => a.has c) G) false)
    (k : Each (Signed.holds M e) G) : Each (Signed.holds (M.set c d) e) G :=
  each_imp (fun s both => Eq.mp (holds_set M e c d s both.left).symm both.right) G (each_and G (each_of_not_any G h) k)
theorem signed_at (a : Formula) (t : Term) (sign : Bool) :
    Eq ((signed (a.at t) sign).holds M e) (Says sign (a.true M (push (t.value M e) e))) :=
  (signed_holds M e (a.at t) sign).trans (congrArg (Says sign) (Formula.true_at M a t e))
theorem signed_const (c : Nat) (d : D) (a : Formula) (sign : Bool) (h : Eq (a.has c) false) :
    Eq ((signed (a.at (.const c)) sign).holds (M.set c d) e) (Says sign (a.true M (push d e))) :=
  (signed_at (M.set c d) e a (.const c) sign).trans (congrArg (Says sign)
    ((congrArg (fun x => a.true (M.set c d) (push x e)) (value_const M c d e)).trans (Formula.true_set M c d a h (push d e))))
end

theorem Signed.eq_of_beq : (a b : Signed) → Eq (a.beq b) true → Eq a b
  | ⟨a, s⟩, ⟨b, t⟩, h => both_true h fun h k => congr2 Signed.mk (Formula.eq_of_beq a b k) (same_eq s t h)

/-! ## Truth tables -/

theorem Connective.table_says {p q : Prop} : (o : Connective) → (x y : Bool) → Says x p → Says y q →
    Says (o.table x y) (o.says p q)
  | .and, true, true, a, b => ⟨a, b⟩
  | .and, true, false, _, b => fun h => b h.right
  | .and, false, _, a, _ => fun h => a h.left
  | .or, true, _, a, _ => .inl a
  | .or, false, true, _, b => .inr b
  | .or, false, false, a, b => fun h => h.elim a b
  | .xor, true, true, a, b => fun h => h.elim (fun k => k.right b) fun k => k.right a
  | .xor, true, false, a, b => .inl ⟨a, b⟩
  | .xor, false, true, a, b => .inr ⟨b, a⟩
  | .xor, false, false, a, b => fun h => h.elim (fun k => a k.left) fun k => b k.left
  | .implies, true, true, _, b => fun _ => b
  | .implies, true, false, a, b => fun h => b (h a)
  | .implies, false, _, a, _ => fun h => absurd h a
  | .iff, true, true, a, b => ⟨fun _ => b, fun _ => a⟩
  | .iff, true, false, a, b => fun h => b (h.mp a)
  | .iff, false, true, a, b => fun h => a (h.mpr b)
  | .iff, false, false, a, b => ⟨fun h => absurd h a, fun h => absurd h b⟩

theorem possible_of {allowed value : Bool → Bool → Bool} : (x y : Bool) → Eq (allowed x y) true →
    Eq (possible allowed value (value x y)) true :=
  have left {b : Bool} : {a : Bool} → Eq a true → Eq (either a b) true
    | true, _ => rfl
  have right {b : Bool} : (a : Bool) → Eq b true → Eq (either a b) true
    | true, _ => rfl
    | false, h => h
  fun x y h => have row := both_intro h (same_refl (value x y))
    match x, y with
    | true, true => left (left row)
    | true, false => left (right _ row)
    | false, true => right _ (left row)
    | false, false => right _ (right _ row)
theorem forced_value {allowed value : Bool → Bool → Bool} {w : Bool} (h : Eq (forced allowed value) (some w)) (x y : Bool)
    (k : Eq (allowed x y) true) : Eq (value x y) w :=
  have go : (t f v : Bool) → Eq (Bool.rec f t v) true →
      Eq (Bool.rec (Bool.rec none (some false) f) (Bool.rec (some true) none f) t) (some w) → Eq v w
    | true, false, true, _, h => some_inj h
    | false, true, false, _, h => some_inj h
  have possible_value : (v : Bool) → Eq (possible allowed value v) true →
      Eq (Bool.rec (possible allowed value false) (possible allowed value true) v) true
    | true, h => h
    | false, h => h
  go _ _ (value x y) (possible_value _ (possible_of x y k)) h

section
variable {D : Type u} {M : Model D} {e : Nat → D}

theorem allows_true (a : Formula) (p : Signed) (x : Bool) (h : Says x (a.true M e)) (k : p.holds M e) :
    Eq (allows (signed a true) p x) true :=
  (true_or_false ((signed a true).formula.beq p.formula)).elim
    (fun yes =>
      have k : Says p.sign ((signed a true).formula.true M e) :=
        Eq.ndrec (motive := fun b : Formula => Says p.sign (b.true M e)) k (Formula.eq_of_beq _ _ yes).symm
      have k : Says (same p.sign (signed a true).sign) ((signed a true).holds M e) := says_same _ _ k
      have k : Says (same p.sign (signed a true).sign) (a.true M e) := Eq.mp (congrArg (Says _) (signed_holds M e a true)) k
      show Eq (either (opposite ((signed a true).formula.beq p.formula)) (same x (same p.sign (signed a true).sign))) true
      from yes.symm ▸ says_only _ _ h k ▸ same_refl x)
    fun no =>
      show Eq (either (opposite ((signed a true).formula.beq p.formula)) (same x (same p.sign (signed a true).sign))) true
      from no.symm ▸ rfl
theorem row_true (a b : Formula) (x y : Bool) (h : Says x (a.true M e)) (k : Says y (b.true M e)) :
    (premises : List Signed) → Each (Signed.holds M e) premises →
    Eq (rowAllowed (signed a true) (signed b true) premises x y) true
  | .nil, _ => rfl
  | .cons p premises, all => both_intro (both_intro (allows_true a p x h all.left) (allows_true b p y k all.left))
    (row_true a b x y h k premises all.right)

/-! ## Rules without blocks -/

theorem eliminated_holds {premises : List Signed} (all : Each (Signed.holds M e) premises) : (left : Bool) →
    (main s : Signed) → main.holds M e → Eq (eliminated left premises main) (some s) → s.holds M e
  | left, ⟨.binary o a b, sign⟩, _, h, k => guard_some k fun _ k => andThen_some k fun w k l =>
    (says_one (a.true M e)).elim fun x hx => (says_one (b.true M e)).elim fun y hy =>
      have row : Eq (same (o.table x y) sign) true :=
        says_only (o.table x y) sign (o.table_says x y hx hy) h ▸ same_refl (o.table x y)
      have value := forced_value k x y (both_intro row (row_true a b x y hx hy premises all))
      have part : (left : Bool) → Eq (Bool.rec y x left) w → Says w (Formula.true M (Bool.rec b a left) e) :=
        fun left => match left with
        | true => fun value => value ▸ hx
        | false => fun value => value ▸ hy
      some_inj l ▸ Eq.mp (signed_holds M e _ w).symm (part left value)
theorem introduced_holds {premises : List Signed} (all : Each (Signed.holds M e) premises) : (f : Formula) → (s : Signed) →
    Eq (introduced premises f) (some s) → s.holds M e
  | .binary o a b, _, k => guard_some k fun _ k => andThen_some k fun w k l =>
    (says_one (a.true M e)).elim fun x hx => (says_one (b.true M e)).elim fun y hy =>
      have value := forced_value k x y (row_true a b x y hx hy premises all)
      some_inj l ▸ show Says w (o.says (a.true M e) (b.true M e)) from value ▸ o.table_says x y hx hy
theorem instanced_holds {S : List Declaration} (obeys : Each (Obeys M) S) (t : Term) : (main s : Signed) →
    main.holds M e → Eq (instanced S t main) (some s) → s.holds M e
  | ⟨.forAll s a, true⟩, _, h, k => guard_some k fun is k =>
    some_inj k ▸ Eq.mp (signed_at M e a t true).symm (h (t.value M e) (Term.is_of obeys e t s is))
  | ⟨.exist s a, false⟩, _, h, k => guard_some k fun is k =>
    some_inj k ▸ Eq.mp (signed_at M e a t false).symm fun l => h ⟨t.value M e, Term.is_of obeys e t s is, l⟩
theorem generalised_holds {S : List Declaration} (obeys : Each (Obeys M) S) (t : Term) (premise : Signed)
    (h : premise.holds M e) : (f : Formula) → (s : Signed) → Eq (generalised S f t premise) (some s) → s.holds M e
  | .exist n a, _, k => guard_some k fun k l => both_true k fun is k => some_inj l ▸
    ⟨t.value M e, Term.is_of obeys e t n is, Eq.mp (signed_at M e a t true) (Signed.eq_of_beq _ _ k ▸ h)⟩
  | .forAll n a, _, k => guard_some k fun k l => both_true k fun is k => some_inj l ▸
    show Not (∀ d, M.is n d → a.true M (push d e)) from fun all =>
      absurd (all (t.value M e) (Term.is_of obeys e t n is)) (Eq.mp (signed_at M e a t false) (Signed.eq_of_beq _ _ k ▸ h))
theorem contradicted_holds : (s t r : Signed) → s.holds M e → t.holds M e → Eq (contradicted s t) (some r) → r.holds M e
  | ⟨a, x⟩, ⟨b, y⟩, _, h, k, l => guard_some l fun l _ => both_true l fun l n =>
    have h : Says x (b.true M e) := Formula.eq_of_beq a b l ▸ h
    not_both (says_only x y h k ▸ same_refl x) (opposite_true n)
theorem constantValue_holds : (f : Formula) → (s : Signed) → Eq (constantValue f) (some s) → s.holds M e
  | .top, _, k => some_inj k ▸ .intro
  | .bottom, _, k => some_inj k ▸ (fun h : False => h : Not False)

theorem exchanged_value {s t : Term} (h : Eq (s.value M e) (t.value M e)) (a b : Term) (k : Eq (exchanged s t a b) true) :
    Eq (a.value M e) (b.value M e) :=
  either_true k (fun k => Term.eq_of_beq a b k ▸ rfl) fun k => either_true k
    (fun k => both_true k fun k l => Term.eq_of_beq a s k ▸ Term.eq_of_beq b t l ▸ h)
    (fun k => both_true k fun k l => Term.eq_of_beq a t k ▸ Term.eq_of_beq b s l ▸ h.symm)
mutual
theorem Term.value_differBy {may : Term → Term → Bool} (h : ∀ a b, Eq (may a b) true → Eq (a.value M e) (b.value M e)) :
    (a b : Term) → Eq (a.differBy may b) true → Eq (a.value M e) (b.value M e)
  | .app f us, .app g vs, k =>
    either_true (a := may (.app f us) (.app g vs)) (b := both (Nat.beq f g) (us.differBy may vs)) k (h _ _) fun k =>
      both_true k fun k l => congr2 M.function (Nat.eq_of_beq_eq_true k) (Terms.values_differBy h us vs l)
  | .var n, .var m, k => h (.var n) (.var m) k
  | .var n, .app g vs, k => h (.var n) (.app g vs) k
  | .app f us, .var m, k => h (.app f us) (.var m) k
theorem Terms.values_differBy {may : Term → Term → Bool} (h : ∀ a b, Eq (may a b) true → Eq (a.value M e) (b.value M e)) :
    (us vs : Terms) → Eq (us.differBy may vs) true → Eq (us.values M e) (vs.values M e)
  | .nil, .nil, _ => rfl
  | .cons a us, .cons b vs, k => both_true k fun k l =>
    congr2 List.cons (Term.value_differBy h a b k) (Terms.values_differBy h us vs l)
end
theorem Formula.true_differBy {may : Term → Term → Bool} (h : ∀ a b, Eq (may a b) Bool.true → Eq (a.value M e) (b.value M e))
    (a b : Formula) (k : Eq (a.differBy may b) Bool.true) : Eq (a.true M e) (b.true M e) :=
  have go : (a b : Formula) → Eq (a.onAtom
      (a.onEqual Bool.false fun s t => b.onEqual Bool.false fun s' t' => both (s.differBy may s') (t.differBy may t'))
      fun p us => b.onAtom Bool.false fun q vs => both (Nat.beq p q) (us.differBy may vs)) Bool.true →
      Eq (a.true M e) (b.true M e)
    | .atom _ us, .atom _ vs, k => both_true k fun k l =>
      congr2 M.predicate (Nat.eq_of_beq_eq_true k) (Terms.values_differBy h us vs l)
    | .equal s t, .equal s' t', k => both_true k fun k l =>
      congr2 Eq (Term.value_differBy h s s' k) (Term.value_differBy h t t' l)
  either_true k (fun k => Formula.eq_of_beq a b k ▸ rfl) (go a b)
theorem leibniz_holds : (f : Formula) → (s : Signed) → Eq (leibnizLaw f) (some s) → s.holds M e
  | .binary o (.equal s t) (.binary o' a b), _, k => guard_some k fun k l => both_true k fun k d =>
    both_true k fun k k' =>
      have go : (o o' : Connective) → Eq o .implies → Eq o' .implies →
          Signed.holds M e ⟨.binary o (.equal s t) (.binary o' a b), true⟩
        | .implies, .implies, _, _ => fun st x => Eq.mp (Formula.true_differBy (exchanged_value st) a b d) x
      some_inj l ▸ go o o' (Connective.eq_of_beq o .implies k) (Connective.eq_of_beq o' .implies k')

/-! ## Theorems -/

/-- What the theorem claims holds. -/
def Lemma.Holds (l : Lemma) : Prop := Claim.Holds.{u} l.claim

theorem each_lookup {α : Type} {p : α → Prop} {n : Nat} {a : α} : (pairs : List (Prod Nat α)) →
    Each (fun pair => p pair.snd) pairs → Eq (lookup n pairs) (some a) → p a
  | .cons ⟨_, b⟩ pairs, all, k =>
    have go : (yes : Bool) → Eq (cond yes (some b) (lookup n pairs)) (some a) → p a
      | true, k => some_inj k ▸ all.left
      | false, k => each_lookup pairs all.right k
    go _ k
theorem letters_obey {S : List Declaration} (obeys : Each (Obeys M) S) (v : Values) (letters : List Declaration)
    (h : Eq (v.fit S letters) true) : Each (Obeys (M.letters v e)) letters :=
  both_true h fun terms letters_fit =>
    each_imp (q := Obeys (M.letters v e)) (fun (k : Declaration) fit l _ => both_true fit fun sort found => accepts_true found fun (t : Term) found _ =>
      have is : M.is v.sort (t.value M e) := each_lookup (p := fun t : Term => M.is v.sort (t.value M e)) v.constants
        (each_imp (fun (pair : Prod Nat Term) (is : Eq (pair.snd.isOf S v.sort) true) => Term.is_of obeys e pair.snd v.sort is) _
          (each_of_all _ terms)) found
      have is : M.is (v.sortOf k.result) (t.value M e) :=
        Eq.ndrec (a := Nat.zero) (motive := fun s => M.is (v.sortOf s) (t.value M e)) is (Nat.eq_of_beq_eq_true sort).symm
      show M.is (v.sortOf k.result) ((lookup k.function v.constants).rec (M.function k.function l) fun t => t.value M e)
      from found.symm ▸ is) letters (each_of_all letters letters_fit)
theorem premises_true (v : Values) : (premises : List Formula) → (found : List Signed) →
    Each (Signed.holds M e) found →
    Eq (areSigned (premises.rec .nil fun a _ rest => .cons (a.instanceOf v .var) rest) found) true →
    Each (fun a => a.true (M.letters v e) e) premises
  | .nil, _, _, _ => .intro
  | .cons a premises, .cons _ found, all, k => both_true k fun k l =>
    ⟨Eq.mp (Formula.true_instance M v e a .var e fun _ => rfl)
        (Eq.mp (signed_holds M e (a.instanceOf v .var) true) (Signed.eq_of_beq _ _ k ▸ all.left)),
      premises_true v premises found all.right l⟩
theorem applied_holds {S : List Declaration} (obeys : Each (Obeys M) S) (v : Values) (l : Lemma) (h : Lemma.Holds.{u} l)
    (premises : List Signed) (all : Each (Signed.holds M e) premises) (s : Signed)
    (k : Eq (applied S v premises l) (some s)) : s.holds M e :=
  guard_some k fun k r => both_true k fun fit given =>
    some_inj r ▸ Eq.mp (signed_holds M e _ true).symm (Eq.mp (Formula.true_instance M v e l.claim.conclusion .var e fun _ => rfl).symm
      (h D (M.letters v e) e (letters_obey obeys v l.claim.sorts fit) (premises_true v l.claim.premises premises all given)))

theorem Rule.says_holds {L : List Lemma} (lemmas : Each Lemma.Holds.{u} L) {S : List Declaration} (obeys : Each (Obeys M) S)
    (G : List Signed) (all : Each (Signed.holds M e) G) : (r : Rule) → (s : Signed) → Eq (r.says L S G) (some s) →
    s.holds M e
  | .again n, s, k => each_nth G n s all k
  | .eliminate n left ns, s, k => andThen_some k fun m km k => andThen_some k fun ps kps k =>
    eliminated_holds (each_nths G all ns ps kps) left m s (each_nth G n m all km) k
  | .introduce f ns, s, k => andThen_some k fun ps kps k => introduced_holds (each_nths G all ns ps kps) f s k
  | .instantiate n t, s, k => andThen_some k fun m km k => instanced_holds obeys t m s (each_nth G n m all km) k
  | .generalise f n t, s, k => andThen_some k fun m km k => generalised_holds obeys t m (each_nth G n m all km) f s k
  | .contradiction n m, s, k => andThen_some k fun a ka k => andThen_some k fun b kb k =>
    contradicted_holds a b s (each_nth G n a all ka) (each_nth G m b all kb) k
  | .truth f, s, k => constantValue_holds f s k
  | .reflexivity _, _, k => some_inj k ▸ rfl
  | .leibniz f, s, k => leibniz_holds f s k
  | .apply n v ns, s, k => andThen_some k fun l kl k => andThen_some k fun ps kps k =>
    applied_holds obeys v l (each_nth L n l lemmas kl) ps (each_nths G all ns ps kps) s k

/-! ## Blocks -/

theorem witnessed_holds {S : List Declaration} {G : List Signed} (c : Nat) : (main s : Signed) → main.holds M e →
    Eq (main.has c) false → Eq (witnessed S G c main) (some s) →
    Exists fun d => Exists fun sort => And (And (M.is sort d) (Eq (isNew S G c sort) true)) (s.holds (M.set c d) e)
  | ⟨.exist s a, true⟩, _, h, n, k => guard_some k fun new k => h.elim fun d h =>
    ⟨d, s, ⟨h.left, new⟩, some_inj k ▸ Eq.mp (signed_const M e c d a true n).symm h.right⟩
  | ⟨.forAll s a, false⟩, _, h, n, k => guard_some k fun new k =>
    (Classical.em (Exists fun d => And (M.is s d) (Not (a.true M (push d e))))).elim
      (fun some => some.elim fun d h =>
        ⟨d, s, ⟨h.left, new⟩, some_inj k ▸ Eq.mp (signed_const M e c d a false n).symm h.right⟩)
      fun none => absurd (fun d is => (Classical.em (a.true M (push d e))).elim (fun h => h) fun n => absurd ⟨d, is, n⟩ none) h
theorem general_true {S : List Declaration} {G : List Signed} {c s : Nat} {a : Formula} {goal : Prod Bool Signed}
    (k : Eq (guard (both (opposite (a.has c)) (isNew S G c s)) (some ⟨true, signed (a.at (.const c)) true⟩)) (some goal))
    (h : ∀ sort d, M.is sort d → Eq (isNew S G c sort) true → goal.snd.holds (M.set c d) e) :
    Says goal.fst (Formula.true M (.forAll s a) e) :=
  guard_some k fun new k => both_true new fun n new =>
    have shown (d : D) (is : M.is s d) : (signed (a.at (.const c)) true).holds (M.set c d) e :=
      Eq.mp (congrArg (fun goal : Prod Bool Signed => goal.snd.holds (M.set c d) e) (some_inj k).symm) (h s d is new)
    Eq.mp (congrArg (fun goal : Prod Bool Signed => Says goal.fst (Formula.true M (.forAll s a) e)) (some_inj k))
      (fun d is => Eq.mp (signed_const M e c d a true (opposite_true n)) (shown d is) : Formula.true M (.forAll s a) e)
theorem general_false {S : List Declaration} {G : List Signed} {c s : Nat} {a : Formula} {goal : Prod Bool Signed}
    (k : Eq (guard (both (opposite (a.has c)) (isNew S G c s)) (some ⟨false, signed (a.at (.const c)) false⟩)) (some goal))
    (h : ∀ sort d, M.is sort d → Eq (isNew S G c sort) true → goal.snd.holds (M.set c d) e) :
    Says goal.fst (Formula.true M (.exist s a) e) :=
  guard_some k fun new k => both_true new fun n new =>
    have shown (d : D) (is : M.is s d) : (signed (a.at (.const c)) false).holds (M.set c d) e :=
      Eq.mp (congrArg (fun goal : Prod Bool Signed => goal.snd.holds (M.set c d) e) (some_inj k).symm) (h s d is new)
    Eq.mp (congrArg (fun goal : Prod Bool Signed => Says goal.fst (Formula.true M (.exist s a) e)) (some_inj k))
      (fun l => l.elim fun d l => absurd l.right (Eq.mp (signed_const M e c d a false (opposite_true n)) (shown d l.left)) :
        Not (Formula.true M (.exist s a) e))
theorem goal_holds {S : List Declaration} {G : List Signed} (c : Nat) : (f : Formula) → (goal : Prod Bool Signed) →
    Eq (generalGoal S G c f) (some goal) →
    (∀ sort d, M.is sort d → Eq (isNew S G c sort) true → goal.snd.holds (M.set c d) e) → Says goal.fst (f.true M e)
  | .forAll _ _, _, k, h => general_true k h
  | .exist _ _, _, k, h => general_false k h
theorem closes_holds {goal shown : Signed} (h : shown.holds M e) (k : Eq (closes goal shown) true) : goal.holds M e :=
  either_true k (fun k => Signed.eq_of_beq shown goal k ▸ h) fun k =>
    have bad : falsum.holds M e := Signed.eq_of_beq shown falsum k ▸ h
    False.elim bad
end

/-- What the last line of a block says is so in each model in which the lines before the block are. -/
theorem run_sound {L : List Lemma} (lemmas : Each Lemma.Holds.{u} L) {S : List Declaration} : (p : Lines) →
    (G : List Signed) → (last : Option Signed) → (r : Signed) → Eq (p.run L S G last) (some r) →
    {D : Type u} → (M : Model D) → (e : Nat → D) → Each (Obeys M) S → Each (Signed.holds M e) G →
    (∀ s, Eq last (some s) → s.holds M e) → r.holds M e
  | .done, _, _, r, k, _, _, _, _, _, l => l r k
  | .line rule p, G, _, r, k, _, M, e, obeys, all, _ => andThen_some k fun s ks k =>
    have hs : s.holds M e := rule.says_holds lemmas obeys G all s ks
    run_sound lemmas p (.cons s G) (some s) r k M e obeys ⟨hs, all⟩ fun _ l => some_inj l ▸ hs
  | .witness n c p, G, _, _, k, _, M, e, obeys, all, _ => andThen_some k fun m km k => andThen_some k fun s ks k =>
    andThen_some k fun shown kr k => guard_some k fun free k =>
    have absent (sort : Nat) (new : Eq (isNew S G c sort) true) : Eq (anyOf (fun a : Signed => a.has c) G) false :=
      both_true new fun _ new => opposite_true new
    have fresh : Eq (m.has c) false := new_of_witnessed m ks fun new =>
      each_nth (p := fun a : Signed => Eq (a.has c) false) G n m (each_of_not_any G new) km
    (witnessed_holds c m s (each_nth G n m all km) fresh ks).elim fun d h => h.elim fun sort h =>
      some_inj k ▸ Eq.mp (holds_set M e c d shown (opposite_true free))
        (run_sound lemmas p (.cons s G) (some s) shown kr (M.set c d) e
          (both_true h.left.right fun fit _ => each_obeys_set M c d h.left.left S obeys fit)
          ⟨h.right, each_holds_set M e c d G (absent sort h.left.right) all⟩ fun _ l => some_inj l ▸ h.right)
  | .arbitrary f c block p, G, _, r, k, _, M, e, obeys, all, _ => andThen_some k fun goal kg k =>
    andThen_some k fun shown ks k => guard_some k fun closed k =>
    have hs : (Signed.mk f goal.fst).holds M e := goal_holds c f goal kg fun _ d is new =>
      both_true new fun fit absent => closes_holds
        (run_sound lemmas block G none shown ks (M.set c d) e (each_obeys_set M c d is S obeys fit)
          (each_holds_set M e c d G (opposite_true absent) all) fun _ l => nomatch l) closed
    run_sound lemmas p (.cons ⟨f, goal.fst⟩ G) (some ⟨f, goal.fst⟩) r k M e obeys ⟨hs, all⟩ fun _ l => some_inj l ▸ hs
  | .suppose (.binary o a b) block p, G, _, r, k, _, M, e, obeys, all, _ => guard_some k fun ko k =>
    andThen_some k fun shown ks k => guard_some k fun closed k =>
    have hs : (Signed.mk (.binary o a b) true).holds M e := Connective.eq_of_beq o .implies ko ▸ fun ha =>
      have ha : (signed a true).holds M e := Eq.mp (signed_holds M e a true).symm ha
      Eq.mp (signed_holds M e b true) (closes_holds
        (run_sound lemmas block (.cons (signed a true) G) none shown ks M e obeys ⟨ha, all⟩ fun _ l => nomatch l) closed)
    run_sound lemmas p (.cons ⟨.binary o a b, true⟩ G) (some ⟨.binary o a b, true⟩) r k M e obeys ⟨hs, all⟩
      fun _ l => some_inj l ▸ hs
  | .absurd f block p, G, _, r, k, _, M, e, obeys, all, _ => andThen_some k fun shown ks k => guard_some k fun closed k =>
    have no : Not (f.true M e) := fun hf =>
      have hf : (signed f true).holds M e := Eq.mp (signed_holds M e f true).symm hf
      have bad : falsum.holds M e := Signed.eq_of_beq shown falsum closed ▸
        run_sound lemmas block (.cons (signed f true) G) none shown ks M e obeys ⟨hf, all⟩ fun _ l => nomatch l
      bad
    have hs : (signed f false).holds M e := Eq.mp (signed_holds M e f false).symm no
    run_sound lemmas p (.cons (signed f false) G) (some (signed f false)) r k M e obeys ⟨hs, all⟩ fun _ l => some_inj l ▸ hs
where
  /-- The constant of a witness has no place in the lines. -/
  new_of_witnessed {S : List Declaration} {G : List Signed} {c : Nat} {C : Prop} : (main : Signed) → {s : Signed} →
      Eq (witnessed S G c main) (some s) → (Eq (anyOf (fun a : Signed => a.has c) G) false → C) → C
    | ⟨.exist _ _, true⟩, _, k, f => guard_some k fun new _ => both_true new fun _ new => f (opposite_true new)
    | ⟨.forAll _ _, false⟩, _, k, f => guard_some k fun new _ => both_true new fun _ new => f (opposite_true new)

/-! ## Derivations and proofs -/

/-- With elements for constants of which a claim says nothing, a model makes the same formulas of the claim true. -/
theorem own_constants {D : Type u} (e : Nat → D) (c : Claim) : (constants : List (Prod Nat Nat)) →
    Eq (areOwn constants c) true → (M : Model D) → Each (Obeys M) c.sorts →
    Exists fun N : Model D => And (Each (Obeys N) (declare constants c.sorts))
      (Each (fun a => Eq (a.true N e) (a.true M e)) (.cons c.conclusion c.premises))
  | .nil, _, M, obeys => ⟨M, obeys, rfl, each_always c.premises fun _ => rfl⟩
  | .cons ⟨k, s⟩ constants, h, M, obeys => both_true h fun h new => both_true new fun fresh absent =>
    (own_constants e c constants h M obeys).elim fun N hN =>
      have fit : Each (fun d => Eq (fits k s d) true) (declare constants c.sorts) :=
        each_imp (p := fun d : Declaration => Eq (Nat.beq d.function k) false)
          (fun d no => show Eq (either (opposite (Nat.beq d.function k)) (Nat.beq d.result s)) true from no.symm ▸ rfl) _
          (each_of_not_any _ (opposite_true fresh))
      ⟨N.set k (N.element s),
        ⟨fun l a => match l, a with
          | .nil, _ => show N.is s (cond (Nat.beq k k) (N.element s) (N.function k .nil)) from
            (beq_refl k).symm ▸ N.element_is s,
          each_imp (fun _ both => obeys_set N k (N.element s) (N.element_is s) both.left both.right) _ (each_and _ hN.left fit)⟩,
        each_imp (p := fun a : Formula => And (Eq (a.has k) false) (Eq (a.true N e) (a.true M e)))
          (fun a both => (Formula.true_set N k (N.element s) a both.left e).trans both.right) _
          (each_and _ (each_of_not_any _ (opposite_true absent)) hN.right)⟩
theorem given_holds {D : Type u} {M : Model D} {e : Nat → D} : (premises : List Formula) → (G : List Signed) →
    Each (fun a => a.true M e) premises → Each (Signed.holds M e) G → Each (Signed.holds M e) (given premises G)
  | .nil, _, _, k => k
  | .cons a premises, G, h, k =>
    given_holds premises (.cons (signed a true) G) h.right ⟨Eq.mp (signed_holds M e a true).symm h.left, k⟩

theorem shows_sound {L : List Lemma} (lemmas : Each Lemma.Holds.{u} L) (c : Claim) (d : Derivation)
    (h : Eq (d.shows L c) true) : Claim.Holds.{u} c :=
  fun _ M e obeys premises => both_true h fun own h => both_true h fun _ h => accepts_true h fun r kr closed =>
    (own_constants e c d.constants own M obeys).elim fun N hN =>
      have premises : Each (fun a => a.true N e) c.premises :=
        each_imp (p := fun a : Formula => And (Eq (a.true N e) (a.true M e)) (a.true M e))
          (fun _ both => Eq.mp both.left.symm both.right) _ (each_and _ hN.right.right premises)
      Eq.mp hN.right.left (Eq.mp (signed_holds N e c.conclusion true) (closes_holds
        (run_sound lemmas d.lines (given c.premises .nil) none r kr N e hN.left
          (given_holds c.premises .nil premises .intro) fun _ l => nomatch l) closed))
theorem proved_sound : (lemmas L done : List Lemma) → Each Lemma.Holds.{u} L → Eq (proved lemmas L) (some done) →
    Each Lemma.Holds.{u} done
  | .nil, _, _, all, k => some_inj k ▸ all
  | .cons l lemmas, L, done, all, k => guard_some k fun shown k =>
    proved_sound lemmas (.cons l L) done ⟨shows_sound all l.claim l.derivation shown, all⟩ k

/-- The checker is sound: the claim of a proof that it accepts holds. -/
theorem check_sound {c : Claim} {p : Proof} (h : Eq (check c p) true) : Claim.Holds.{u} c :=
  accepts_true h fun L lemmas shown => shows_sound (proved_sound p.lemmas .nil L .intro lemmas) c p.derivation shown

end
end ProofR1.Checker
