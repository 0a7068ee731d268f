/-! The domains of countermodels: types of one to four elements. -/
namespace ProofR1

inductive D1 : Type where
  | e0
inductive D2 : Type where
  | e0 | e1
inductive D3 : Type where
  | e0 | e1 | e2
inductive D4 : Type where
  | e0 | e1 | e2 | e3

end ProofR1
