module
prelude
/-!
A second stand-in for Lean's own `Init`, for tests alone: the names of binders, the order of arguments and the universes
are those of Lean 4.35, and there are root names of Lean beside them that the theory must not pick up by accident. The
data types come after it, as the small `Init` has them: those are Lean's own to the letter.
-/

@[expose] public section

unsafe axiom lcErased : Type
unsafe axiom lcAny : Type
unsafe axiom lcVoid : Type

section
universe u v w
set_option bootstrap.inductiveCheckResultingUniverse false in
inductive PUnit : Sort u where
  | unit : PUnit
abbrev Unit : Type := PUnit
@[match_pattern] abbrev Unit.unit : Unit := PUnit.unit
structure PProd (α : Sort u) (β : Sort v) where
  fst : α
  snd : β
structure Prod (α : Type u) (β : Type v) where
  fst : α
  snd : β
structure PULift.{r, s} (α : Sort s) : Sort (max s r 1) where
  up ::
  down : α
structure PLift (α : Sort u) : Type u where
  up ::
  down : α
inductive Empty : Type where

noncomputable section

def id {α : Sort u} (a : α) : α := a
def Function.comp {α : Sort u} {β : Sort v} {δ : Sort w} (f : β → δ) (g : α → β) : α → δ := fun x => f (g x)
def Function.const {α : Sort u} (β : Sort v) (a : α) : β → α := fun _ => a

inductive True : Prop where
  | intro : True
inductive False : Prop where
def Not (a : Prop) : Prop := a → False
def False.elim {C : Sort u} (h : False) : C := h.rec
def absurd {a : Prop} {b : Sort v} (h₁ : a) (h₂ : Not a) : b := (h₂ h₁).rec

structure And (a b : Prop) : Prop where
  intro ::
  left : a
  right : b
inductive Or (a b : Prop) : Prop where
  | inl (h : a) : Or a b
  | inr (h : b) : Or a b
structure Iff (a b : Prop) : Prop where
  intro ::
  mp : a → b
  mpr : b → a
inductive Exists {α : Sort u} (p : α → Prop) : Prop where
  | intro (w : α) (h : p w) : Exists p
class inductive Nonempty (α : Sort u) : Prop where
  | intro (val : α) : Nonempty α
structure Subtype {α : Sort u} (p : α → Prop) where
  val : α
  property : p val
/-- Lean has a class of this name for the operator on bits. -/
class XorOp (α : Type u) where
  xor : α → α → α
-- Equality comes after the structures: what is generated for a structure would ask for lemmas about it.
inductive Eq {α : Sort u} : α → α → Prop where
  | refl (a : α) : Eq a a
inductive HEq {α : Sort u} : α → {β : Sort u} → β → Prop where
  | refl (a : α) : HEq a a

section
variable {a b c d : Prop}

theorem Or.intro_left (b : Prop) (h : a) : Or a b := .inl h
theorem Or.intro_right (a : Prop) (h : b) : Or a b := .inr h
theorem Or.elim {c : Prop} (h : Or a b) (left : a → c) (right : b → c) : c := h.rec left right
theorem Or.symm (h : Or a b) : Or b a := h.elim .inr .inl
theorem And.symm (h : And a b) : And b a := ⟨h.right, h.left⟩
def And.elim {α : Sort u} (f : a → b → α) (h : And a b) : α := f h.left h.right
theorem Iff.refl (a : Prop) : Iff a a := ⟨fun h => h, fun h => h⟩
theorem Iff.symm (h : Iff a b) : Iff b a := ⟨h.mpr, h.mp⟩
theorem not_not_intro {p : Prop} (h : p) : Not (Not p) := fun hn => hn h
theorem mt {a b : Prop} (h₁ : a → b) (h₂ : Not b) : Not a := fun ha => h₂ (h₁ ha)
theorem not_false : Not False := fun h => h
theorem Exists.elim {α : Sort u} {p : α → Prop} {b : Prop} (h₁ : Exists (fun x => p x)) (h₂ : ∀ (a : α), p a → b) : b :=
  h₁.rec h₂
end

def Eq.ndrec.{u1, u2} {α : Sort u2} {a : α} {motive : α → Sort u1} (m : motive a) {b : α} (h : Eq a b) : motive b :=
  h.rec m
set_option linter.defProp false in
@[match_pattern] def rfl {α : Sort u} {a : α} : Eq a a := Eq.refl a
theorem Eq.subst {α : Sort u} {motive : α → Prop} {a b : α} (h₁ : Eq a b) (h₂ : motive a) : motive b :=
  Eq.ndrec h₂ h₁
theorem Eq.symm {α : Sort u} {a b : α} (h : Eq a b) : Eq b a := h.subst (motive := fun x => Eq x a) rfl
theorem Eq.trans {α : Sort u} {a b c : α} (h₁ : Eq a b) (h₂ : Eq b c) : Eq a c := h₂.subst (motive := fun x => Eq a x) h₁
theorem congrArg {α : Sort u} {β : Sort v} {a₁ a₂ : α} (f : α → β) (h : Eq a₁ a₂) : Eq (f a₁) (f a₂) :=
  h.subst (motive := fun x => Eq (f a₁) (f x)) rfl
def cast {α β : Sort u} (h : Eq α β) (a : α) : β := h.rec (motive := fun x _ => x) a
def Eq.mp {α β : Sort u} (h : Eq α β) (a : α) : β := cast h a

theorem eq_of_heq {α : Sort u} {a a' : α} (h : HEq a a') : Eq a a' :=
  have : (α β : Sort u) → (a : α) → (b : β) → HEq a b → (h : Eq α β) → Eq (cast h a) b :=
    fun _ _ _ _ h₁ => h₁.rec (fun _ => rfl)
  this α α a a' h rfl
theorem heq_of_eq {α : Sort u} {a a' : α} (h : Eq a a') : HEq a a' :=
  Eq.ndrec (motive := fun x => HEq a x) (.refl a) h

init_quot
axiom propext {a b : Prop} : Iff a b → Eq a b
axiom Quot.sound : ∀ {α : Sort u} {r : α → α → Prop} {a b : α}, r a b → Eq (Quot.mk r a) (Quot.mk r b)
axiom Classical.choice {α : Sort u} : Nonempty α → α

theorem funext {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x} (h : ∀ (x : α), Eq (f x) (g x)) : Eq f g :=
  let same (f g : (x : α) → β x) : Prop := ∀ x, Eq (f x) (g x)
  congrArg (fun (q : Quot same) (x : α) => Quot.lift (fun (k : (x : α) → β x) => k x) (fun _ _ s => s x) q)
    (Quot.sound h)

namespace Classical

def indefiniteDescription {α : Sort u} (p : α → Prop) (h : Exists (fun x => p x)) : Subtype p :=
  choice (h.elim fun x px => ⟨⟨x, px⟩⟩)
def choose {α : Sort u} {p : α → Prop} (h : Exists (fun x => p x)) : α := (indefiniteDescription p h).val
theorem choose_spec {α : Sort u} {p : α → Prop} (h : Exists (fun x => p x)) : p (choose h) :=
  (indefiniteDescription p h).property

theorem em (p : Prop) : Or p (Not p) :=
  let U (x : Prop) : Prop := Or (Eq x True) p
  let V (x : Prop) : Prop := Or (Eq x False) p
  have exU : Exists U := ⟨True, .inl rfl⟩
  have exV : Exists V := ⟨False, .inl rfl⟩
  have agree (hp : p) : Eq (indefiniteDescription U exU).val (indefiniteDescription V exV).val :=
    have h : Eq U V := funext fun _ => propext ⟨fun _ => .inr hp, fun _ => .inr hp⟩
    Eq.ndrec (motive := fun W => ∀ exW : Exists W, Eq (indefiniteDescription U exU).val (indefiniteDescription W exW).val)
      (fun _ => .refl _) h exV
  (indefiniteDescription U exU).property.elim
    (fun hut => (indefiniteDescription V exV).property.elim
      (fun hvf => .inr fun hp => (hut.symm.trans ((agree hp).trans hvf)).mp .intro)
      .inl)
    .inl

theorem byContradiction {p : Prop} (h : Not p → False) : p := (em p).elim id fun n => (h n).elim

end Classical
end
end
