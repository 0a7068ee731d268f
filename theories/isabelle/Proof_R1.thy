theory Proof_R1
  imports Proof_R1_Schemata Proof_R1_Closure
begin

text \<open>All that certificates need.\<close>

end
