module
/-!
Truth values, options, lists and trees, with what the other modules prove from them.

The functions that the kernel evaluates are written with recursors, which it unfolds in half the time that pattern
matching takes. Theorems about them are in the style "if the result is this, then the parts are that, and so C".
-/
@[expose] public section
namespace ProofR1.Checker
noncomputable section
universe u v w

/-! ## Truth values -/

/-- Whether the value is false. -/
def opposite (a : Bool) : Bool := Bool.rec true false a
/-- Whether both values are true. -/
def both (a b : Bool) : Bool := Bool.rec false b a
/-- Whether one of the values is true. -/
def either (a b : Bool) : Bool := Bool.rec b true a
/-- Whether the values are the same. -/
def same (a b : Bool) : Bool := Bool.rec (opposite b) b a

theorem both_true {a b : Bool} {C : Prop} (h : Eq (both a b) true) (k : Eq a true → Eq b true → C) : C :=
  match a, b with
  | true, true => k rfl rfl
theorem both_intro {a b : Bool} (h : Eq a true) (k : Eq b true) : Eq (both a b) true :=
  match a, b with
  | true, true => rfl
theorem either_true {a b : Bool} {C : Prop} (h : Eq (either a b) true) (k : Eq a true → C) (l : Eq b true → C) : C :=
  match a, b with
  | true, _ => k rfl
  | false, true => l rfl
theorem either_false {a b : Bool} {C : Prop} (h : Eq (either a b) false) (k : Eq a false → Eq b false → C) : C :=
  match a, b with
  | false, false => k rfl rfl
theorem opposite_true {a : Bool} (h : Eq (opposite a) true) : Eq a false :=
  match a with
  | false => rfl
theorem same_refl : (a : Bool) → Eq (same a a) true
  | true => rfl
  | false => rfl
theorem same_eq : (a b : Bool) → Eq (same a b) true → Eq a b
  | true, true, _ => rfl
  | false, false, _ => rfl
theorem true_or_false : (a : Bool) → Or (Eq a true) (Eq a false)
  | true => .inl rfl
  | false => .inr rfl
theorem not_both {a : Bool} {C : Prop} (h : Eq a true) (k : Eq a false) : C := Bool.noConfusion (h.symm.trans k)

/-- The proposition has the truth value. -/
def Says (b : Bool) (p : Prop) : Prop :=
  match b with
  | true => p
  | false => Not p

theorem says_one (p : Prop) : Exists fun b => Says b p :=
  (Classical.em p).elim (fun h => ⟨true, h⟩) fun h => ⟨false, h⟩
theorem says_only {p : Prop} : (a b : Bool) → Says a p → Says b p → Eq a b
  | true, true, _, _ => rfl
  | false, false, _, _ => rfl
  | true, false, h, k => absurd h k
  | false, true, h, k => absurd k h
theorem says_not {p : Prop} : (b : Bool) → Eq (Says (opposite b) p) (Says b (Not p))
  | true => rfl
  | false => propext ⟨fun h n => n h, fun h => (Classical.em p).elim (fun a => a) fun n => absurd n h⟩
theorem says_same {p : Prop} : (a b : Bool) → Says a p → Says (same a b) (Says b p)
  | true, true, h => h
  | true, false, h => fun n => n h
  | false, true, h => h
  | false, false, h => h
theorem says_is_true : (b : Bool) → Says b (Eq b true)
  | true => rfl
  | false => fun h => Bool.noConfusion h
theorem says_true {p : Prop} {b : Bool} (h : Eq b true) (k : Says b p) : p :=
  match b with
  | true => k
theorem says_false {p : Prop} {b : Bool} (h : Eq b false) (k : Says b p) : Not p :=
  match b with
  | false => k

/-! ## Options -/

/-- Go on with the value, if there is one. -/
def andThen {α : Type u} {β : Type v} (o : Option α) (k : α → Option β) : Option β := Option.rec none k o
/-- Go on if the value is true. -/
def guard {α : Type u} (b : Bool) (o : Option α) : Option α := Bool.rec none o b
/-- Whether there is a value, and the test accepts it. -/
def accepts {α : Type u} (o : Option α) (test : α → Bool) : Bool := Option.rec false test o

theorem andThen_some {α : Type u} {β : Type v} {o : Option α} {k : α → Option β} {r : β} {C : Prop}
    (h : Eq (andThen o k) (some r)) (f : ∀ a, Eq o (some a) → Eq (k a) (some r) → C) : C :=
  match o with
  | some a => f a rfl h
theorem guard_some {α : Type u} {b : Bool} {o : Option α} {r : α} {C : Prop} (h : Eq (guard b o) (some r))
    (f : Eq b true → Eq o (some r) → C) : C :=
  match b with
  | true => f rfl h
theorem accepts_true {α : Type u} {test : α → Bool} {C : Prop} : {o : Option α} → (h : Eq (accepts o test) true) →
    (f : ∀ a, Eq o (some a) → Eq (test a) true → C) → C
  | some a, h, f => f a rfl h
theorem some_inj {α : Type u} {a b : α} (h : Eq (some a) (some b)) : Eq a b :=
  match h with
  | rfl => rfl
theorem congr2 {α : Sort u} {β : Sort v} {γ : Sort w} (f : α → β → γ) {a a' : α} {b b' : β} (h : Eq a a')
    (k : Eq b b') : Eq (f a b) (f a' b') :=
  h ▸ k ▸ rfl

/-! ## Lists -/

/-- Element of a list by its number, from 0. -/
def nth {α : Type u} (l : List α) : Nat → Option α :=
  l.rec (motive := fun _ => Nat → Option α) (fun _ => none) fun a _ rest n => Nat.rec (some a) (fun n _ => rest n) n
/-- The elements with the numbers; none if one is missing. -/
def nths {α : Type u} (l : List α) (numbers : List Nat) : Option (List α) :=
  numbers.rec (some .nil) fun n _ rest => andThen (nth l n) fun a => andThen rest fun found => some (.cons a found)
/-- Whether the test accepts an element. -/
def anyOf {α : Type u} (test : α → Bool) (l : List α) : Bool := l.rec false fun a _ rest => either (test a) rest
/-- Whether the test accepts all elements. -/
def allOf {α : Type u} (test : α → Bool) (l : List α) : Bool := l.rec true fun a _ rest => both (test a) rest

/-- All elements have the property. -/
def Each {α : Type u} (p : α → Prop) : List α → Prop
  | .nil => True
  | .cons a l => And (p a) (Each p l)

section
variable {α : Type u} {p q : α → Prop}
theorem each_nth : (l : List α) → (n : Nat) → (a : α) → Each p l → Eq (nth l n) (some a) → p a
  | .cons _ _, .zero, _, h, k => some_inj k ▸ h.left
  | .cons _ l, .succ n, a, h, k => each_nth l n a h.right k
theorem each_nths (l : List α) (h : Each p l) : (numbers : List Nat) → (found : List α) →
    Eq (nths l numbers) (some found) → Each p found
  | .nil, _, k => some_inj k ▸ .intro
  | .cons n numbers, _, k => andThen_some k fun a ka k => andThen_some k fun found kf k =>
    some_inj k ▸ ⟨each_nth l n a h ka, each_nths l h numbers found kf⟩
theorem each_imp (f : ∀ a, p a → q a) : (l : List α) → Each p l → Each q l
  | .nil, _ => .intro
  | .cons a l, h => ⟨f a h.left, each_imp f l h.right⟩
theorem each_always (l : List α) (h : ∀ a, p a) : Each p l := l.rec .intro fun a _ rest => ⟨h a, rest⟩
theorem each_of_not_any {test : α → Bool} : (l : List α) → Eq (anyOf test l) false → Each (fun a => Eq (test a) false) l
  | .nil, _ => .intro
  | .cons _ l, h => either_false h fun h k => ⟨h, each_of_not_any l k⟩
theorem each_of_all {test : α → Bool} : (l : List α) → Eq (allOf test l) true → Each (fun a => Eq (test a) true) l
  | .nil, _ => .intro
  | .cons _ l, h => both_true h fun h k => ⟨h, each_of_all l k⟩
theorem each_and : (l : List α) → Each p l → Each q l → Each (fun a => And (p a) (q a)) l
  | .nil, _, _ => .intro
  | .cons _ l, h, k => ⟨⟨h.left, k.left⟩, each_and l h.right k.right⟩
end

/-! ## Choices -/

/-- A choice by a number: what to choose up to a limit, and what beyond it. -/
inductive Choice (α : Type) where
  | one (a : α)
  | upTo (limit : Nat) (low high : Choice α)
/-- What is chosen by a number. -/
def Choice.of {α : Type} (c : Choice α) (n : Nat) : α :=
  c.rec (fun a => a) fun limit _ _ low high => Bool.rec high low (Nat.ble n limit)

/-! ## What is known, by numbers -/

/-- A tree: the data whose numbers are less than the middle, and the others. -/
inductive Tree (α : Type) where
  | leaf (a : α)
  | node (middle : Nat) (low high : Tree α)
/-- What is found for a number. -/
def Tree.get {α : Type} (t : Tree α) (n : Nat) : Option α :=
  t.rec some fun middle _ _ low high => Bool.rec low high (Nat.ble middle n)

/-- Data with the numbers from 0 on, as a binary counter: each place is free or has a tree of twice as many data as a tree
at the place before it would have, with the number of its first. The trees of later places have earlier data. -/
inductive Known (α : Type) where
  | empty
  | free (earlier : Known α)
  | full (first : Nat) (t : Tree α) (earlier : Known α)
/-- What is found for a number. -/
def Known.get {α : Type} (K : Known α) (n : Nat) : Option α :=
  K.rec none (fun _ earlier => earlier) fun first t _ earlier => Bool.rec earlier (t.get n) (Nat.ble first n)
/-- What is found for each of the numbers; none if there are not so many data. -/
def Known.gets {α : Type} (K : Known α) (count : Nat) (numbers : List Nat) : Option (List α) :=
  numbers.rec (some .nil) fun n _ rest => Bool.rec
    (andThen (K.get n) fun a => andThen rest fun found => some (.cons a found)) none (Nat.ble count n)
/-- Go on with the data and those of a tree whose first has the number. The kernel evaluates what it goes on with once. -/
def Known.put {α β : Type} (K : Known α) : Nat → Tree α → (Known α → β) → β :=
  K.rec (motive := fun _ => Nat → Tree α → (Known α → β) → β) (fun first t go => go (.full first t .empty))
    (fun earlier _ first t go => go (.full first t earlier))
    fun before low _ put first t go => put before (.node first low t) fun K => go (.free K)
/-- Go on with the next number. The kernel evaluates it once. -/
def next {β : Type} (n : Nat) (go : Nat → β) : β := Nat.rec (go 0) (fun m _ => go m) (Nat.add n 2)

/-- All data have the property. -/
def Tree.Each {α : Type} (p : α → Prop) : Tree α → Prop
  | .leaf a => p a
  | .node _ low high => And (low.Each p) (high.Each p)
def Known.Each {α : Type} (p : α → Prop) : Known α → Prop
  | .empty => True
  | .free K => K.Each p
  | .full _ t K => And (t.Each p) (K.Each p)

section
variable {α β : Type} {p : α → Prop}
theorem Tree.each_get {n : Nat} {a : α} : (t : Tree α) → t.Each p → Eq (t.get n) (some a) → p a
  | .leaf _, h, k => some_inj k ▸ h
  | .node middle low high, h, k =>
    have go : (yes : Bool) → Eq (Bool.rec (low.get n) (high.get n) yes : Option α) (some a) → p a
      | true, k => each_get high h.right k
      | false, k => each_get low h.left k
    go (Nat.ble middle n) k
theorem Known.each_get {n : Nat} {a : α} : (K : Known α) → K.Each p → Eq (K.get n) (some a) → p a
  | .free K, h, k => each_get K h k
  | .full first t K, h, k =>
    have go : (yes : Bool) → Eq (Bool.rec (K.get n) (t.get n) yes : Option α) (some a) → p a
      | true, k => t.each_get h.left k
      | false, k => each_get K h.right k
    go (Nat.ble first n) k
theorem Known.each_gets (K : Known α) (count : Nat) (all : K.Each p) : (numbers : List Nat) → (found : List α) →
    Eq (K.gets count numbers) (some found) → Checker.Each p found
  | .nil, _, k => some_inj k ▸ .intro
  | .cons n numbers, found, k =>
    have go : (no : Bool) → Eq (Bool.rec (andThen (K.get n) fun a => andThen (K.gets count numbers) fun found =>
        some (.cons a found)) none no : Option (List α)) (some found) → Checker.Each p found
      | false, k => andThen_some k fun _ ka k => andThen_some k fun found kf k =>
        some_inj k ▸ ⟨K.each_get all ka, each_gets K count all numbers found kf⟩
    go (Nat.ble count n) k
/-- What is so of what goes on with data of the property is so of `put`. -/
theorem Known.each_put {q : β → Prop} : (K : Known α) → (first : Nat) → (t : Tree α) → (go : Known α → β) → K.Each p →
    t.Each p → (∀ K : Known α, K.Each p → q (go K)) → q (K.put first t go)
  | .empty, _, _, _, _, h, f => f _ ⟨h, .intro⟩
  | .free _, _, _, _, all, h, f => f _ ⟨h, all⟩
  | .full before low K, first, t, go, all, h, f =>
    each_put K before (.node first low t) (fun K => go (.free K)) all.right ⟨all.left, h⟩ fun K all => f (.free K) all
end

end
end ProofR1.Checker
