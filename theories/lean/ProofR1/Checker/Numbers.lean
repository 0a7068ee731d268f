module
public import ProofR1.Checker.Trace
/-!
Steps of a trace as numbers. Lean reads a number at once, but some seventy constructors of a step one by one.

A number is a sequence of digits in a base that is a multiple of 16, the last digit first. Some digits are numbers of
the data. Others say which constructor stands there: its number in the tables below, plus 16 times its argument.

Nothing has to be proved of it: the checker reads what comes out, and accepts it if it is a proof.
-/
@[expose] public section
namespace ProofR1.Checker
noncomputable section

/-- A reader: a step from the digits that are left, and from what to do with the data and the digits after them. -/
def Reader (α : Type) : Type := Nat → (α → Nat → Step) → Step
/-- How to go on after a constructor: from its argument, the digits after it and the reader itself. -/
def Branch (α : Type) : Type := Nat → Nat → Reader α → (α → Nat → Step) → Step
/-- What is read where the digits make no sense: a step that the checker rejects. -/
def noStep : Step := ⟨.nil, .bottom, ⟨.nil, .done⟩⟩

/-- The reader that chooses a branch by the digit, for at most so many constructors. -/
def readBy {α : Type} (base : Nat) (c : Choice (Branch α)) (most : Nat) : Reader α :=
  most.rec (motive := fun _ => Reader α) (fun _ _ => noStep) fun _ rest n k =>
    Nat.rec noStep (fun argument _ => c.of (Nat.mod n 16) argument (Nat.div n base) rest k) (Nat.div (Nat.mod n base) 16)
/-- As many data as the first digit says. -/
def readMany {α : Type} (base : Nat) (read : Reader α) : Reader (List α) := fun n k =>
  Nat.rec (motive := fun _ => Reader (List α)) (fun n k => k .nil n)
    (fun _ rest n k => read n fun a n => rest n fun l n => k (.cons a l) n) (Nat.mod n base) (Nat.div n base) k
/-- A number. -/
def readNumber (base : Nat) : Reader Nat := fun n k =>
  Nat.rec noStep (fun number _ => k number (Nat.div n base)) (Nat.mod n base)
/-- Two data. -/
def readBoth {α β : Type} (a : Reader α) (b : Reader β) : Reader (Prod α β) := fun n k =>
  a n fun x n => b n fun y n => k ⟨x, y⟩ n

def termBranches : Choice (Branch Terms) :=
  .upTo 0 (.one fun c n _ k => k (.cons (.const c) .nil) n)
    (.upTo 1 (.one fun c n rest k => rest n fun ts n => k (.cons (.const c) ts) n)
      (.upTo 2 (.one fun _ n _ k => k .nil n)
        (.upTo 3 (.one fun x n rest k => rest n fun ts n => k (.cons (.var x) ts) n)
          (.one fun f n rest k => rest n fun args n => rest n fun ts n => k (.cons (.app f args) ts) n))))
def readTerms (base most : Nat) : Reader Terms := readBy base termBranches most
def readTerm (base most : Nat) : Reader Term := fun n k =>
  readTerms base most n fun ts n => ts.casesOn noStep fun t _ => k t n

def formulaBranches (base most : Nat) : Choice (Branch Formula) :=
  let binary (o : Connective) : Choice (Branch Formula) :=
    .one fun _ n rest k => rest n fun a n => rest n fun b n => k (.binary o a b) n
  .upTo 0 (.one fun p n _ k => readTerms base most n fun ts n => k (.atom p ts) n)
    (.upTo 5
      (.upTo 2
        (.upTo 1 (.one fun _ n rest k => rest n fun a n => k (.not a) n) (binary .implies))
        (.upTo 3 (binary .and) (.upTo 4 (binary .or) (binary .xor))))
      (.upTo 8
        (.upTo 6 (binary .iff)
          (.upTo 7 (.one fun s n rest k => rest n fun a n => k (.forAll s a) n)
            (.one fun s n rest k => rest n fun a n => k (.exist s a) n)))
        (.upTo 9
          (.one fun _ n _ k => readTerm base most n fun s n => readTerm base most n fun t n => k (.equal s t) n)
          (.upTo 10 (.one fun _ n _ k => k .top n) (.one fun _ n _ k => k .bottom n)))))
def readFormula (base most : Nat) : Reader Formula := readBy base (formulaBranches base most) most

def readValues (base most : Nat) : Reader Values := fun n k =>
  readNumber base n fun s n =>
    readMany base (readBoth (readNumber base) (readFormula base most)) n fun ps n =>
      readMany base (readBoth (readNumber base) (readTerm base most)) n fun cs n => k ⟨s, ps, cs⟩ n

def lineBranches (base most : Nat) : Choice (Branch Lines) :=
  let numbers : Reader (List Nat) := readMany base (readNumber base)
  let formula : Reader Formula := readFormula base most
  let term : Reader Term := readTerm base most
  .upTo 7
    (.upTo 3
      (.upTo 1
        (.upTo 0 (.one fun _ n _ k => k .done n)
          (.one fun m n rest k => rest n fun p n => k (.line (.again m) p) n))
        (.upTo 2
          (.one fun m n rest k => numbers n fun l n => rest n fun p n => k (.line (.eliminate m true l) p) n)
          (.one fun m n rest k => numbers n fun l n => rest n fun p n => k (.line (.eliminate m false l) p) n)))
      (.upTo 5
        (.upTo 4
          (.one fun _ n rest k => formula n fun a n => numbers n fun l n => rest n fun p n =>
            k (.line (.introduce a l) p) n)
          (.one fun m n rest k => term n fun t n => rest n fun p n => k (.line (.instantiate m t) p) n))
        (.upTo 6
          (.one fun m n rest k => formula n fun a n => term n fun t n => rest n fun p n =>
            k (.line (.generalise a m t) p) n)
          (.one fun m n rest k => readNumber base n fun second n => rest n fun p n =>
            k (.line (.contradiction m second) p) n))))
    (.upTo 11
      (.upTo 9
        (.upTo 8 (.one fun _ n rest k => formula n fun a n => rest n fun p n => k (.line (.truth a) p) n)
          (.one fun _ n rest k => term n fun t n => rest n fun p n => k (.line (.reflexivity t) p) n))
        (.upTo 10 (.one fun _ n rest k => formula n fun a n => rest n fun p n => k (.line (.leibniz a) p) n)
          (.one fun m n rest k => readValues base most n fun v n => numbers n fun l n => rest n fun p n =>
            k (.line (.apply m v l) p) n)))
      (.upTo 13
        (.upTo 12 (.one fun m n rest k => readNumber base n fun c n => rest n fun p n => k (.witness m c p) n)
          (.one fun c n rest k => formula n fun a n => rest n fun block n => rest n fun p n =>
            k (.arbitrary a c block p) n))
        (.upTo 14
          (.one fun _ n rest k => formula n fun a n => rest n fun block n => rest n fun p n => k (.suppose a block p) n)
          (.one fun _ n rest k => formula n fun a n => rest n fun block n => rest n fun p n => k (.absurd a block p) n))))
def readLines (base most : Nat) : Reader Lines := readBy base (lineBranches base most) most

/-- A step: its dependencies, its conclusion, the constants with their sorts, and the lines. -/
def Step.ofNumber (base most n : Nat) : Step :=
  readMany base (readNumber base) n fun dependencies n => readFormula base most n fun a n =>
    readMany base (readBoth (readNumber base) (readNumber base)) n fun constants n =>
      readLines base most n fun p _ => ⟨dependencies, a, ⟨constants, p⟩⟩
/-- The trace of steps as numbers. The last step concludes the first option. -/
def Trace.ofNumbers (lemmas : List Lemma) (last base most : Nat) (steps : List Nat) : Trace :=
  ⟨lemmas, steps.rec .nil fun n _ rest => .cons (.ofNumber base most n) rest, last, 0⟩

end
end ProofR1.Checker
