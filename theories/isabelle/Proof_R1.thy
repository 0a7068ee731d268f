theory Proof_R1
  imports Proof_R1_Schemata Proof_R1_Closure Proof_R1_Domains
begin

text \<open>All that certificates need.\<close>

end
