theory Proof_R1_Schemata
  imports Proof_R1_Logic
begin

text \<open>
  The schemata of the rule systems, one lemma each: first the principal premises, then the minor ones. Names, variables
  and statements are those of the theorems in \<open>theories/lean\<close>.
\<close>

context
  fixes A B X Y :: bool
begin

(* IMPLICATION_ELIMINATION *)

lemma implication_elimination: "A \<longrightarrow> B \<Longrightarrow> A \<Longrightarrow> B" by blast

(* MODUS_TOLLENS, and what the negated antecedent consists of *)

lemma modus_tollens: "A \<longrightarrow> B \<Longrightarrow> \<not> B \<Longrightarrow> \<not> A" by blast
lemma modus_tollens_or: "(X \<or> Y) \<longrightarrow> B \<Longrightarrow> \<not> B \<Longrightarrow> \<not> X" by blast
lemma modus_tollens_and:
  "(X \<and> Y) \<longrightarrow> B \<Longrightarrow> \<not> B \<Longrightarrow> X \<Longrightarrow> \<not> Y" by blast
lemma modus_tollens_implies_left:
  "(X \<longrightarrow> Y) \<longrightarrow> B \<Longrightarrow> \<not> B \<Longrightarrow> X" by blast
lemma modus_tollens_implies_right:
  "(X \<longrightarrow> Y) \<longrightarrow> B \<Longrightarrow> \<not> B \<Longrightarrow> \<not> Y" by blast
lemma modus_tollens_xor_left:
  "(X \<noteq> Y) \<longrightarrow> B \<Longrightarrow> \<not> B \<Longrightarrow> X \<Longrightarrow> Y" by blast
lemma modus_tollens_xor_right:
  "(X \<noteq> Y) \<longrightarrow> B \<Longrightarrow> \<not> B \<Longrightarrow> Y \<Longrightarrow> X" by blast
lemma modus_tollens_xor_not_left:
  "(X \<noteq> Y) \<longrightarrow> B \<Longrightarrow> \<not> B \<Longrightarrow> \<not> X \<Longrightarrow> \<not> Y" by blast
lemma modus_tollens_xor_not_right:
  "(X \<noteq> Y) \<longrightarrow> B \<Longrightarrow> \<not> B \<Longrightarrow> \<not> Y \<Longrightarrow> \<not> X" by blast

(* EXCLUSIVE_DISJUNCTION_INTRODUCTION *)

lemma xor_introduction_left: "A \<Longrightarrow> \<not> B \<Longrightarrow> A \<noteq> B" by blast
lemma xor_introduction_right: "\<not> A \<Longrightarrow> B \<Longrightarrow> A \<noteq> B" by blast
lemma not_iff_introduction_left:
  "A \<Longrightarrow> \<not> B \<Longrightarrow> \<not> (A \<longleftrightarrow> B)" by blast
lemma not_iff_introduction_right:
  "\<not> A \<Longrightarrow> B \<Longrightarrow> \<not> (A \<longleftrightarrow> B)" by blast

(* EXCLUSIVE_DISJUNCTION_ELIMINATION *)

lemma xor_elimination_left: "A \<noteq> B \<Longrightarrow> A \<Longrightarrow> \<not> B" by blast
lemma xor_elimination_not_left: "A \<noteq> B \<Longrightarrow> \<not> A \<Longrightarrow> B" by blast
lemma xor_elimination_right: "A \<noteq> B \<Longrightarrow> B \<Longrightarrow> \<not> A" by blast
lemma xor_elimination_not_right: "A \<noteq> B \<Longrightarrow> \<not> B \<Longrightarrow> A" by blast
lemma not_xor_elimination_left: "\<not> (A \<noteq> B) \<Longrightarrow> A \<Longrightarrow> B" by blast
lemma not_xor_elimination_not_left:
  "\<not> (A \<noteq> B) \<Longrightarrow> \<not> A \<Longrightarrow> \<not> B" by blast
lemma not_xor_elimination_right: "\<not> (A \<noteq> B) \<Longrightarrow> B \<Longrightarrow> A" by blast
lemma not_xor_elimination_not_right:
  "\<not> (A \<noteq> B) \<Longrightarrow> \<not> B \<Longrightarrow> \<not> A" by blast

(* DISJUNCTIVE_SYLLOGISM, CONJUNCTION_INTRODUCTION, CONJUNCTION_ELIMINATION, GOAL_BINDING *)

lemma disjunctive_syllogism: "A \<or> B \<Longrightarrow> \<not> A \<Longrightarrow> B" by blast
lemma conjunction_introduction: "A \<Longrightarrow> B \<Longrightarrow> A \<and> B" by blast
lemma conjunction_elimination: "A \<and> B \<Longrightarrow> A" by blast
lemma goal_binding: "A \<Longrightarrow> A" by assumption

end

context
  fixes A B C :: "'u \<Rightarrow> bool"
    and t :: "'u"
    and G :: bool
begin

(* UNIVERSAL_ELIMINATION *)

lemma universal_elimination: "\<forall>x. A x \<Longrightarrow> A t" by blast

(* UNIVERSAL_IMPLICATION_CHAINING, UNIVERSAL_PROPOSITIONAL_INFERENCE *)

lemma universal_implication_chaining:
  "\<forall>x. (A x \<longrightarrow> B x) \<Longrightarrow> \<forall>x. (B x \<longrightarrow> C x) \<Longrightarrow> \<forall>x. (A x \<longrightarrow> C x)" by blast
lemma universal_propositional_inference:
  "\<forall>x. (A x \<longrightarrow> B x) \<Longrightarrow> \<forall>x. (A x \<longrightarrow> C x) \<Longrightarrow> \<forall>x. (A x \<longrightarrow> (B x \<and> C x))" by blast

(* EXISTENTIAL_INTRODUCTION, EXISTENTIAL_CONJUNCTION_ELIMINATION, EXISTENTIAL_IMPLICATION_ELIMINATION,
EXISTENTIAL_CONJUNCTION_INTRODUCTION *)

lemma existential_introduction: "A t \<Longrightarrow> \<exists>x. A x" by blast
lemma existential_conjunction_elimination: "\<exists>x. (A x \<and> B x) \<Longrightarrow> \<exists>x. A x" by blast
lemma existential_conjunction_elimination_closed: "\<exists>x. (A x \<and> G) \<Longrightarrow> G" by blast
lemma existential_implication_elimination:
  "\<exists>x. A x \<Longrightarrow> \<forall>x. (A x \<longrightarrow> B x) \<Longrightarrow> \<exists>x. B x" by blast
lemma existential_conjunction_introduction:
  "\<exists>x. A x \<Longrightarrow> G \<Longrightarrow> \<exists>x. (A x \<and> G)" by blast

(* QUANTIFIER_NEGATION *)

lemma not_forall_to_exists_not: "\<not> (\<forall>x. A x) \<Longrightarrow> \<exists>x. (\<not> (A x))" by blast
lemma exists_not_to_not_forall: "\<exists>x. (\<not> (A x)) \<Longrightarrow> \<not> (\<forall>x. A x)" by blast
lemma not_exists_to_forall_not: "\<not> (\<exists>x. A x) \<Longrightarrow> \<forall>x. (\<not> (A x))" by blast
lemma forall_not_to_not_exists: "\<forall>x. (\<not> (A x)) \<Longrightarrow> \<not> (\<exists>x. A x)" by blast
lemma not_forall_not_to_exists: "\<not> (\<forall>x. (\<not> (A x))) \<Longrightarrow> \<exists>x. A x" by blast
lemma exists_to_not_forall_not: "\<exists>x. A x \<Longrightarrow> \<not> (\<forall>x. (\<not> (A x)))" by blast
lemma not_exists_not_to_forall: "\<not> (\<exists>x. (\<not> (A x))) \<Longrightarrow> \<forall>x. A x" by blast
lemma forall_to_not_exists_not: "\<forall>x. A x \<Longrightarrow> \<not> (\<exists>x. (\<not> (A x)))" by blast

end

ML \<open>
  val oracles = Thm_Deps.all_oracles @{thms
    implication_elimination
    modus_tollens modus_tollens_or modus_tollens_and modus_tollens_implies_left modus_tollens_implies_right
    modus_tollens_xor_left modus_tollens_xor_right modus_tollens_xor_not_left modus_tollens_xor_not_right
    xor_introduction_left xor_introduction_right not_iff_introduction_left not_iff_introduction_right
    xor_elimination_left xor_elimination_not_left xor_elimination_right xor_elimination_not_right
    not_xor_elimination_left not_xor_elimination_not_left not_xor_elimination_right not_xor_elimination_not_right
    disjunctive_syllogism conjunction_introduction conjunction_elimination goal_binding
    universal_elimination universal_implication_chaining universal_propositional_inference
    existential_introduction existential_conjunction_elimination existential_conjunction_elimination_closed
    existential_implication_elimination existential_conjunction_introduction
    not_forall_to_exists_not exists_not_to_not_forall not_exists_to_forall_not forall_not_to_not_exists
    not_forall_not_to_exists exists_to_not_forall_not not_exists_not_to_forall forall_to_not_exists_not};
  val _ = null oracles orelse error ("ORACLES: " ^ commas (map (#1 o #1) oracles));
\<close>

end
