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
lemma modus_tollens_not_and:
  "\<not> (X \<and> Y) \<longrightarrow> B \<Longrightarrow> \<not> B \<Longrightarrow> X" by blast
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
lemma not_iff_elimination: "\<not> (A \<longleftrightarrow> B) \<Longrightarrow> A \<Longrightarrow> \<not> B" by blast
lemma not_iff_elimination_not:
  "\<not> (A \<longleftrightarrow> B) \<Longrightarrow> \<not> A \<Longrightarrow> B" by blast

(* DISJUNCTIVE_SYLLOGISM, CONJUNCTION_INTRODUCTION, CONJUNCTION_ELIMINATION, GOAL_BINDING *)

lemma disjunctive_syllogism: "A \<or> B \<Longrightarrow> \<not> A \<Longrightarrow> B" by blast
lemma disjunctive_syllogism_not_and: "\<not> (A \<and> B) \<Longrightarrow> A \<Longrightarrow> \<not> B" by blast
lemma conjunction_introduction: "A \<Longrightarrow> B \<Longrightarrow> A \<and> B" by blast
lemma conjunction_introduction_iff:
  "A \<longrightarrow> B \<Longrightarrow> B \<longrightarrow> A \<Longrightarrow> A \<longleftrightarrow> B" by blast
lemma conjunction_elimination: "A \<and> B \<Longrightarrow> A" by blast
lemma conjunction_elimination_not_or: "\<not> (A \<or> B) \<Longrightarrow> \<not> A" by blast
lemma conjunction_elimination_not_implies_left: "\<not> (A \<longrightarrow> B) \<Longrightarrow> A" by blast
lemma conjunction_elimination_not_implies_right: "\<not> (A \<longrightarrow> B) \<Longrightarrow> \<not> B" by blast
lemma conjunction_elimination_iff: "A \<longleftrightarrow> B \<Longrightarrow> A \<longrightarrow> B" by blast
lemma goal_binding: "A \<Longrightarrow> A" by assumption

end

context
  fixes A B C :: "'u \<Rightarrow> bool"
    and t :: "'u"
    and G :: bool
begin

(* MODUS_TOLLENS, where the antecedent is quantified *)

lemma modus_tollens_exists:
  "(\<exists>x. A x) \<longrightarrow> G \<Longrightarrow> \<not> G \<Longrightarrow> \<not> (A t)" by blast
lemma modus_tollens_not_forall:
  "\<not> (\<forall>x. A x) \<longrightarrow> G \<Longrightarrow> \<not> G \<Longrightarrow> A t" by blast

(* UNIVERSAL_ELIMINATION *)

lemma universal_elimination: "\<forall>x. A x \<Longrightarrow> A t" by blast
lemma universal_elimination_not_exists: "\<not> (\<exists>x. A x) \<Longrightarrow> \<not> (A t)" by blast

(* UNIVERSAL_IMPLICATION_CHAINING, UNIVERSAL_PROPOSITIONAL_INFERENCE *)

lemma universal_implication_chaining:
  "\<forall>x. (A x \<longrightarrow> B x) \<Longrightarrow> \<forall>x. (B x \<longrightarrow> C x) \<Longrightarrow> \<forall>x. (A x \<longrightarrow> C x)" by blast
lemma universal_implication_chaining_iff_first:
  "\<forall>x. (A x \<longleftrightarrow> B x) \<Longrightarrow> \<forall>x. (B x \<longrightarrow> C x) \<Longrightarrow> \<forall>x. (A x \<longrightarrow> C x)" by blast
lemma universal_implication_chaining_iff_second:
  "\<forall>x. (A x \<longrightarrow> B x) \<Longrightarrow> \<forall>x. (B x \<longleftrightarrow> C x) \<Longrightarrow> \<forall>x. (A x \<longrightarrow> C x)" by blast
lemma universal_implication_chaining_iff:
  "\<forall>x. (A x \<longleftrightarrow> B x) \<Longrightarrow> \<forall>x. (B x \<longleftrightarrow> C x) \<Longrightarrow> \<forall>x. (A x \<longleftrightarrow> C x)" by blast
lemma universal_propositional_inference:
  "\<forall>x. (A x \<longrightarrow> B x) \<Longrightarrow> \<forall>x. (A x \<longrightarrow> C x) \<Longrightarrow> \<forall>x. (A x \<longrightarrow> (B x \<and> C x))" by blast
lemma universal_propositional_inference_or:
  "\<forall>x. (A x \<longrightarrow> C x) \<Longrightarrow> \<forall>x. (B x \<longrightarrow> C x) \<Longrightarrow> \<forall>x. ((A x \<or> B x) \<longrightarrow> C x)" by blast

(* EXISTENTIAL_INTRODUCTION, EXISTENTIAL_CONJUNCTION_ELIMINATION, EXISTENTIAL_IMPLICATION_ELIMINATION,
EXISTENTIAL_CONJUNCTION_INTRODUCTION *)

lemma existential_introduction: "A t \<Longrightarrow> \<exists>x. A x" by blast
lemma existential_conjunction_elimination: "\<exists>x. (A x \<and> B x) \<Longrightarrow> \<exists>x. A x" by blast
lemma existential_conjunction_elimination_closed: "\<exists>x. (A x \<and> G) \<Longrightarrow> G" by blast
lemma existential_implication_elimination:
  "\<exists>x. A x \<Longrightarrow> \<forall>x. (A x \<longrightarrow> B x) \<Longrightarrow> \<exists>x. B x" by blast
lemma existential_implication_elimination_iff:
  "\<exists>x. A x \<Longrightarrow> \<forall>x. (A x \<longleftrightarrow> B x) \<Longrightarrow> \<exists>x. B x" by blast
lemma existential_implication_elimination_part:
  "\<exists>x. (A x \<and> C x) \<Longrightarrow> \<forall>x. (A x \<longrightarrow> B x) \<Longrightarrow> \<exists>x. B x" by blast
lemma existential_implication_elimination_and:
  "\<exists>x. (A x \<and> C x) \<Longrightarrow> \<forall>x. (A x \<longrightarrow> B x) \<Longrightarrow> \<exists>x. (B x \<and> C x)" by blast
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

context
  fixes A B C :: "'u \<Rightarrow> 'u \<Rightarrow> bool"
    and G :: bool
begin

(* Two quantifiers at once *)

lemma universal_implication_chaining_two:
  "\<forall>x. \<forall>y. (A x y \<longrightarrow> B x y) \<Longrightarrow> \<forall>x. \<forall>y. (B x y \<longrightarrow> C x y) \<Longrightarrow> \<forall>x. \<forall>y. (A x y \<longrightarrow> C x y)" by blast
lemma universal_propositional_inference_two:
  "\<forall>x. \<forall>y. (A x y \<longrightarrow> B x y) \<Longrightarrow> \<forall>x. \<forall>y. (A x y \<longrightarrow> C x y) \<Longrightarrow> \<forall>x. \<forall>y. (A x y \<longrightarrow> (B x y \<and> C x y))" by blast
lemma existential_conjunction_elimination_two:
  "\<exists>x. \<exists>y. (A x y \<and> B x y) \<Longrightarrow> \<exists>x. \<exists>y. A x y" by blast
lemma existential_conjunction_elimination_two_closed:
  "\<exists>x. \<exists>y. (A x y \<and> G) \<Longrightarrow> G" by blast
lemma existential_implication_elimination_two:
  "\<exists>x. \<exists>y. A x y \<Longrightarrow> \<forall>x. \<forall>y. (A x y \<longrightarrow> B x y) \<Longrightarrow> \<exists>x. \<exists>y. B x y" by blast

end

text \<open>The complete catalogue adds the following. A step of it may stand under hypotheses: \<open>under_hypotheses\<close>.\<close>

context
  fixes A B C D :: bool
begin

(* DISJUNCTION_INTRODUCTION, EQUIVALENCE_INTRODUCTION *)

lemma disjunction_introduction: "A \<Longrightarrow> A \<or> B" by blast
lemma disjunction_introduction_implies: "B \<Longrightarrow> A \<longrightarrow> B" by blast
lemma disjunction_introduction_implies_not: "\<not> A \<Longrightarrow> A \<longrightarrow> B" by blast
lemma disjunction_introduction_not_and: "\<not> A \<Longrightarrow> \<not> (A \<and> B)" by blast
lemma equivalence_introduction: "A \<Longrightarrow> B \<Longrightarrow> A \<longleftrightarrow> B" by blast
lemma equivalence_introduction_not: "\<not> A \<Longrightarrow> \<not> B \<Longrightarrow> A \<longleftrightarrow> B" by blast
lemma equivalence_introduction_not_xor: "A \<Longrightarrow> B \<Longrightarrow> \<not> (A \<noteq> B)" by blast
lemma equivalence_introduction_not_xor_not:
  "\<not> A \<Longrightarrow> \<not> B \<Longrightarrow> \<not> (A \<noteq> B)" by blast

(* CASE_ANALYSIS, REDUCTIO_AD_ABSURDUM, REITERATION *)

lemma case_analysis:
  "A \<or> B \<Longrightarrow> A \<longrightarrow> C \<Longrightarrow> B \<longrightarrow> C \<Longrightarrow> C" by blast
lemma case_analysis_one: "A \<or> B \<Longrightarrow> A \<longrightarrow> B \<Longrightarrow> B" by blast
lemma case_analysis_both:
  "A \<or> B \<Longrightarrow> A \<longrightarrow> C \<Longrightarrow> B \<longrightarrow> D \<Longrightarrow> C \<or> D" by blast
lemma case_analysis_resolution: "A \<or> B \<Longrightarrow> A \<longrightarrow> C \<Longrightarrow> C \<or> B" by blast
lemma case_analysis_excluded_middle:
  "A \<longrightarrow> C \<Longrightarrow> \<not> A \<longrightarrow> C \<Longrightarrow> C" by blast
lemma reductio_ad_absurdum_of_negation: "\<not> A \<longrightarrow> A \<Longrightarrow> A" by blast
lemma reductio_ad_absurdum_of_itself: "A \<longrightarrow> \<not> A \<Longrightarrow> \<not> A" by blast
lemma reductio_ad_absurdum:
  "A \<longrightarrow> B \<Longrightarrow> A \<longrightarrow> \<not> B \<Longrightarrow> \<not> A" by blast
lemma reiteration: "A \<Longrightarrow> A" by assumption

end

context
  fixes A B :: "'u \<Rightarrow> bool"
    and t u :: "'u"
    and G :: bool
begin

(* EXISTENTIAL_ELIMINATION, EQUALITY_SUBSTITUTION, EQUALITY_REFLEXIVITY *)

lemma existential_elimination:
  "\<exists>x. A x \<Longrightarrow> \<forall>x. (A x \<longrightarrow> G) \<Longrightarrow> G" by blast
lemma existential_elimination_part:
  "\<exists>x. (A x \<and> B x) \<Longrightarrow> \<forall>x. (A x \<longrightarrow> G) \<Longrightarrow> G" by blast
lemma existential_elimination_not_forall:
  "\<not> (\<forall>x. A x) \<Longrightarrow> \<forall>x. (\<not> (A x) \<longrightarrow> G) \<Longrightarrow> G" by blast
lemma equality_substitution: "t = u \<Longrightarrow> A t \<Longrightarrow> A u" by auto
lemma equality_substitution_distinct: "A t \<Longrightarrow> \<not> (A u) \<Longrightarrow> \<not> (t = u)" by auto
lemma equality_reflexivity: "t = t" by auto

end

ML \<open>
  val oracles = Thm_Deps.all_oracles @{thms
    implication_elimination modus_tollens modus_tollens_or modus_tollens_and modus_tollens_not_and
    modus_tollens_implies_left modus_tollens_implies_right modus_tollens_xor_left modus_tollens_xor_right
    modus_tollens_xor_not_left modus_tollens_xor_not_right xor_introduction_left xor_introduction_right
    not_iff_introduction_left xor_elimination_left xor_elimination_not_left xor_elimination_right
    xor_elimination_not_right not_xor_elimination_left not_xor_elimination_not_left not_xor_elimination_right
    not_xor_elimination_not_right not_iff_elimination not_iff_elimination_not disjunctive_syllogism
    disjunctive_syllogism_not_and conjunction_introduction conjunction_introduction_iff conjunction_elimination
    conjunction_elimination_not_or conjunction_elimination_not_implies_left
    conjunction_elimination_not_implies_right conjunction_elimination_iff goal_binding modus_tollens_exists
    modus_tollens_not_forall universal_elimination universal_elimination_not_exists universal_implication_chaining
    universal_implication_chaining_iff_first universal_implication_chaining_iff_second
    universal_implication_chaining_iff universal_propositional_inference universal_propositional_inference_or
    existential_introduction existential_conjunction_elimination existential_conjunction_elimination_closed
    existential_implication_elimination existential_implication_elimination_iff
    existential_implication_elimination_part existential_implication_elimination_and
    existential_conjunction_introduction not_forall_to_exists_not exists_not_to_not_forall not_exists_to_forall_not
    forall_not_to_not_exists not_forall_not_to_exists exists_to_not_forall_not not_exists_not_to_forall
    forall_to_not_exists_not universal_implication_chaining_two universal_propositional_inference_two
    existential_conjunction_elimination_two existential_conjunction_elimination_two_closed
    existential_implication_elimination_two disjunction_introduction disjunction_introduction_implies
    disjunction_introduction_implies_not disjunction_introduction_not_and equivalence_introduction
    equivalence_introduction_not equivalence_introduction_not_xor equivalence_introduction_not_xor_not case_analysis
    case_analysis_one case_analysis_both case_analysis_resolution case_analysis_excluded_middle
    reductio_ad_absurdum_of_negation reductio_ad_absurdum_of_itself reductio_ad_absurdum reiteration
    existential_elimination existential_elimination_part existential_elimination_not_forall equality_substitution equality_substitution_distinct
    equality_reflexivity};
  val _ = null oracles orelse error ("ORACLES: " ^ commas (map (#1 o #1) oracles));
\<close>

end
