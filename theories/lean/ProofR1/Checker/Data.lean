module
/-!
Truth values, options and maps, with what the other modules prove from them.

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

/-! ## Maps whose keys are binary numbers -/

/-- A key: a number from 1 on, by its binary digits, the last one first. -/
inductive Key where
  | one
  | even (half : Key)
  | odd (half : Key)

/-- A number from 1 on as a key. -/
def Key.ofNumber (n : Nat) : Key :=
  n.rec (motive := fun _ => Nat → Key) (fun _ => .one) (fun _ rest n =>
    Bool.rec (Bool.rec (.odd (rest (Nat.div n 2))) (.even (rest (Nat.div n 2))) (Nat.beq (Nat.mod n 2) 0)) .one
      (Nat.ble n 1)) n

/-- A map: the value of the key `one`, those of the even keys, and those of the odd ones. -/
inductive Map (α : Type u) where
  | empty
  | node (value : Option α) (evens odds : Map α)

/-- The value of a key. -/
def Map.get {α : Type u} (k : Key) : Map α → Option α :=
  k.rec (motive := fun _ => Map α → Option α) (fun m => m.casesOn none fun v _ _ => v)
    (fun _ get m => m.casesOn none fun _ l _ => get l) fun _ get m => m.casesOn none fun _ _ r => get r
/-- The map with a value for a key. -/
def Map.put {α : Type u} (a : α) (k : Key) : Map α → Map α :=
  k.rec (motive := fun _ => Map α → Map α)
    (fun m => m.casesOn (.node (some a) .empty .empty) fun _ l r => .node (some a) l r)
    (fun _ put m => m.casesOn (.node none (put .empty) .empty) fun v l r => .node v (put l) r)
    fun _ put m => m.casesOn (.node none .empty (put .empty)) fun v l r => .node v l (put r)
/-- The values of the keys; none if one is missing. -/
def Map.gets {α : Type u} (m : Map α) (keys : List Key) : Option (List α) :=
  keys.rec (some .nil) fun k _ rest => andThen (m.get k) fun a => andThen rest fun found => some (.cons a found)

/-- All values have the property. -/
def Map.Each {α : Type u} (p : α → Prop) (m : Map α) : Prop := ∀ k a, Eq (m.get k) (some a) → p a

section
variable {α : Type u} {p : α → Prop} {a : α}
theorem Map.get_empty : (k : Key) → Eq (Map.get k (.empty : Map α)) none
  | .one => rfl
  | .even _ => rfl
  | .odd _ => rfl
theorem Map.each_empty : Map.Each p .empty := fun k _ h => nomatch (get_empty k).symm.trans h
theorem Map.each_put (h : p a) : (k : Key) → (m : Map α) → m.Each p → (m.put a k).Each p
  | .one, .empty, _ => fun key b found => match key with
    | .one => some_inj found ▸ h
    | .even key => each_empty key b found
    | .odd key => each_empty key b found
  | .one, .node _ _ _, all => fun key b found => match key with
    | .one => some_inj found ▸ h
    | .even key => all (.even key) b found
    | .odd key => all (.odd key) b found
  | .even k, .empty, _ => fun key b found => match key with
    | .even key => each_put h k .empty each_empty key b found
    | .odd key => each_empty key b found
  | .even k, .node _ l _, all => fun key b found => match key with
    | .one => all .one b found
    | .even key => each_put h k l (fun key => all (.even key)) key b found
    | .odd key => all (.odd key) b found
  | .odd k, .empty, _ => fun key b found => match key with
    | .even key => each_empty key b found
    | .odd key => each_put h k .empty each_empty key b found
  | .odd k, .node _ _ r, all => fun key b found => match key with
    | .one => all .one b found
    | .even key => all (.even key) b found
    | .odd key => each_put h k r (fun key => all (.odd key)) key b found
theorem Map.each_gets (m : Map α) (all : m.Each p) : (keys : List Key) → (found : List α) →
    Eq (m.gets keys) (some found) → Checker.Each p found
  | .nil, _, k => some_inj k ▸ .intro
  | .cons key keys, _, k => andThen_some k fun a ka k => andThen_some k fun found kf k =>
    some_inj k ▸ ⟨all key a ka, each_gets m all keys found kf⟩
end

end
end ProofR1.Checker
