theory Proof_R1_Closure
  imports Main
begin

text \<open>
  The conditional soundness of a closure: if every step of it is entailed by what it depends on, then what the premises
  say carries over to the answer.
\<close>

text \<open>The formulas that a closure reaches: premises, and what is entailed by formulas reached before, taken together.\<close>

inductive closure :: "('f \<Rightarrow> bool) \<Rightarrow> ('f \<Rightarrow> 'f \<Rightarrow> 'f) \<Rightarrow> ('f \<Rightarrow> 'f \<Rightarrow> bool) \<Rightarrow> 'f \<Rightarrow> bool"
  for premise :: "'f \<Rightarrow> bool"
    and both :: "'f \<Rightarrow> 'f \<Rightarrow> 'f"
    and entails :: "'f \<Rightarrow> 'f \<Rightarrow> bool"
where
  given: "premise f \<Longrightarrow> closure premise both entails f"
| together: "closure premise both entails f \<Longrightarrow> closure premise both entails g
    \<Longrightarrow> closure premise both entails (both f g)"
| step: "closure premise both entails d \<Longrightarrow> entails d f \<Longrightarrow> closure premise both entails f"

text \<open>By induction over the closure, whatever \<open>holds\<close> means: entailment preserves it, so it reaches the answer.\<close>

theorem conditional_soundness:
  fixes holds :: "'f \<Rightarrow> bool"
  assumes reached: "closure premise both entails answer"
    and premises_hold: "\<And>f. premise f \<Longrightarrow> holds f"
    and both_hold: "\<And>f g. holds f \<Longrightarrow> holds g \<Longrightarrow> holds (both f g)"
    and entailment_preserves: "\<And>d f. entails d f \<Longrightarrow> holds d \<Longrightarrow> holds f"
  shows "holds answer"
  using reached
proof (induct rule: closure.induct)
  case (given f)
  then show ?case by (rule premises_hold)
next
  case (together f g)
  then show ?case using both_hold by blast
next
  case (step d f)
  then show ?case using entailment_preserves by blast
qed

text \<open>
  A step under hypotheses: what entails the conclusion at every element, and holds at those for which the hypotheses
  hold, gives the conclusion for these. An element may be a tuple of elements.
\<close>

theorem under_hypotheses:
  fixes H P C :: "'u \<Rightarrow> bool"
  assumes entailed: "\<forall>x. (P x \<longrightarrow> C x)" and given: "\<forall>x. (H x \<longrightarrow> P x)"
  shows "\<forall>x. (H x \<longrightarrow> C x)"
  using entailed given by blast

ML \<open>
  val oracles = Thm_Deps.all_oracles @{thms conditional_soundness under_hypotheses};
  val _ = null oracles orelse error ("ORACLES: " ^ commas (map (#1 o #1) oracles));
\<close>

end
