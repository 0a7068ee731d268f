namespace ProofR1

theorem not_not_elim {A : Prop} (h : Not (Not A)) : A := (Classical.em A).elim (fun a => a) fun n => absurd n h
theorem disjunctive_syllogism {A B : Prop} (h : Or A B) (n : Not A) : B :=
  not_not_elim fun m => h.elim n m

end ProofR1
