theory Proof_R1_Logic
  imports Main
begin

text \<open>
  The lemmas that certificates are made of, under the names that they have in \<open>theories/lean\<close>: what truth tables
  force, double negation, quantifiers, equality. A name says what is given: \<open>or_true_left_of_false\<close> is about the left
  side of a true disjunction whose right side is false, and \<open>xor_of_true_false\<close> about an exclusive disjunction
  whose left side is true and whose right side is false. Exclusive disjunction is \<open>\<noteq>\<close> on truth values.

  A certificate applies them by unification alone, so a predicate variable is always instantiated by name there.
\<close>

context
  fixes A B :: bool
begin

lemma not_not_elim: "\<not> (\<not> A) \<Longrightarrow> A" by blast
lemma not_not_intro: "A \<Longrightarrow> \<not> (\<not> A)" by blast
lemma not_false: "\<not> False" by blast

text \<open>Elimination: a side, from the value of the whole and, where it is needed, of the other side.\<close>

lemma and_true_left: "A \<and> B \<Longrightarrow> A" by blast
lemma and_true_right: "A \<and> B \<Longrightarrow> B" by blast
lemma and_false_left_of_true: "\<not> (A \<and> B) \<Longrightarrow> B \<Longrightarrow> \<not> A" by blast
lemma and_false_right_of_true: "\<not> (A \<and> B) \<Longrightarrow> A \<Longrightarrow> \<not> B" by blast

lemma or_true_left_of_false: "A \<or> B \<Longrightarrow> \<not> B \<Longrightarrow> A" by blast
lemma or_true_right_of_false: "A \<or> B \<Longrightarrow> \<not> A \<Longrightarrow> B" by blast
lemma or_false_left: "\<not> (A \<or> B) \<Longrightarrow> \<not> A" by blast
lemma or_false_right: "\<not> (A \<or> B) \<Longrightarrow> \<not> B" by blast

lemma implies_true_left_of_false: "A \<longrightarrow> B \<Longrightarrow> \<not> B \<Longrightarrow> \<not> A" by blast
lemma implies_true_right_of_true: "A \<longrightarrow> B \<Longrightarrow> A \<Longrightarrow> B" by blast
lemma implies_false_left: "\<not> (A \<longrightarrow> B) \<Longrightarrow> A" by blast
lemma implies_false_right: "\<not> (A \<longrightarrow> B) \<Longrightarrow> \<not> B" by blast

lemma xor_true_left_of_true: "A \<noteq> B \<Longrightarrow> B \<Longrightarrow> \<not> A" by blast
lemma xor_true_left_of_false: "A \<noteq> B \<Longrightarrow> \<not> B \<Longrightarrow> A" by blast
lemma xor_true_right_of_true: "A \<noteq> B \<Longrightarrow> A \<Longrightarrow> \<not> B" by blast
lemma xor_true_right_of_false: "A \<noteq> B \<Longrightarrow> \<not> A \<Longrightarrow> B" by blast
lemma xor_false_left_of_true: "\<not> (A \<noteq> B) \<Longrightarrow> B \<Longrightarrow> A" by blast
lemma xor_false_left_of_false: "\<not> (A \<noteq> B) \<Longrightarrow> \<not> B \<Longrightarrow> \<not> A" by blast
lemma xor_false_right_of_true: "\<not> (A \<noteq> B) \<Longrightarrow> A \<Longrightarrow> B" by blast
lemma xor_false_right_of_false: "\<not> (A \<noteq> B) \<Longrightarrow> \<not> A \<Longrightarrow> \<not> B" by blast

lemma iff_true_left_of_true: "A \<longleftrightarrow> B \<Longrightarrow> B \<Longrightarrow> A" by blast
lemma iff_true_left_of_false: "A \<longleftrightarrow> B \<Longrightarrow> \<not> B \<Longrightarrow> \<not> A" by blast
lemma iff_true_right_of_true: "A \<longleftrightarrow> B \<Longrightarrow> A \<Longrightarrow> B" by blast
lemma iff_true_right_of_false:
  "A \<longleftrightarrow> B \<Longrightarrow> \<not> A \<Longrightarrow> \<not> B" by blast
lemma iff_false_left_of_true:
  "\<not> (A \<longleftrightarrow> B) \<Longrightarrow> B \<Longrightarrow> \<not> A" by blast
lemma iff_false_left_of_false:
  "\<not> (A \<longleftrightarrow> B) \<Longrightarrow> \<not> B \<Longrightarrow> A" by blast
lemma iff_false_right_of_true:
  "\<not> (A \<longleftrightarrow> B) \<Longrightarrow> A \<Longrightarrow> \<not> B" by blast
lemma iff_false_right_of_false:
  "\<not> (A \<longleftrightarrow> B) \<Longrightarrow> \<not> A \<Longrightarrow> B" by blast

text \<open>Introduction: the whole, from the values of its sides, or of one of them where that is enough.\<close>

lemma and_of_true_true: "A \<Longrightarrow> B \<Longrightarrow> A \<and> B" by blast
lemma and_of_false_any: "\<not> A \<Longrightarrow> \<not> (A \<and> B)" by blast
lemma and_of_any_false: "\<not> B \<Longrightarrow> \<not> (A \<and> B)" by blast

lemma or_of_true_any: "A \<Longrightarrow> A \<or> B" by blast
lemma or_of_any_true: "B \<Longrightarrow> A \<or> B" by blast
lemma or_of_false_false: "\<not> A \<Longrightarrow> \<not> B \<Longrightarrow> \<not> (A \<or> B)" by blast

lemma implies_of_false_any: "\<not> A \<Longrightarrow> A \<longrightarrow> B" by blast
lemma implies_of_any_true: "B \<Longrightarrow> A \<longrightarrow> B" by blast
lemma implies_of_true_false: "A \<Longrightarrow> \<not> B \<Longrightarrow> \<not> (A \<longrightarrow> B)" by blast

lemma xor_of_true_true: "A \<Longrightarrow> B \<Longrightarrow> \<not> (A \<noteq> B)" by blast
lemma xor_of_true_false: "A \<Longrightarrow> \<not> B \<Longrightarrow> A \<noteq> B" by blast
lemma xor_of_false_true: "\<not> A \<Longrightarrow> B \<Longrightarrow> A \<noteq> B" by blast
lemma xor_of_false_false: "\<not> A \<Longrightarrow> \<not> B \<Longrightarrow> \<not> (A \<noteq> B)" by blast

lemma iff_of_true_true: "A \<Longrightarrow> B \<Longrightarrow> A \<longleftrightarrow> B" by blast
lemma iff_of_true_false: "A \<Longrightarrow> \<not> B \<Longrightarrow> \<not> (A \<longleftrightarrow> B)" by blast
lemma iff_of_false_true: "\<not> A \<Longrightarrow> B \<Longrightarrow> \<not> (A \<longleftrightarrow> B)" by blast
lemma iff_of_false_false: "\<not> A \<Longrightarrow> \<not> B \<Longrightarrow> A \<longleftrightarrow> B" by blast

end

context
  fixes P :: "'u \<Rightarrow> bool"
    and t :: "'u"
begin

lemma exists_false_instance: "\<not> (\<exists>x. P x) \<Longrightarrow> \<not> (P t)" by blast
lemma forall_false_witness: "\<not> (\<forall>x. P x) \<Longrightarrow> \<exists>x. (\<not> (P x))" by blast
lemma forall_false_of_instance: "\<not> (P t) \<Longrightarrow> \<not> (\<forall>x. P x)" by blast
lemma exists_false_of_all: "\<forall>x. (\<not> (P x)) \<Longrightarrow> \<not> (\<exists>x. P x)" by blast

end

context
  fixes P :: "'u \<Rightarrow> 'u \<Rightarrow> bool"
    and s t :: "'u"
begin

text \<open>Along an equation: \<open>s\<close> becomes \<open>t\<close> at some places, and \<open>t\<close> becomes \<open>s\<close> at others.\<close>

lemma leibniz: "s = t \<longrightarrow> (P s t \<longrightarrow> P t s)" by auto

end

ML \<open>
  val oracles = Thm_Deps.all_oracles @{thms
    not_not_elim not_not_intro not_false
    and_true_left and_true_right and_false_left_of_true and_false_right_of_true
    or_true_left_of_false or_true_right_of_false or_false_left or_false_right
    implies_true_left_of_false implies_true_right_of_true implies_false_left implies_false_right
    xor_true_left_of_true xor_true_left_of_false xor_true_right_of_true xor_true_right_of_false
    xor_false_left_of_true xor_false_left_of_false xor_false_right_of_true xor_false_right_of_false
    iff_true_left_of_true iff_true_left_of_false iff_true_right_of_true iff_true_right_of_false
    iff_false_left_of_true iff_false_left_of_false iff_false_right_of_true iff_false_right_of_false
    and_of_true_true and_of_false_any and_of_any_false
    or_of_true_any or_of_any_true or_of_false_false
    implies_of_false_any implies_of_any_true implies_of_true_false
    xor_of_true_true xor_of_true_false xor_of_false_true xor_of_false_false
    iff_of_true_true iff_of_true_false iff_of_false_true iff_of_false_false
    exists_false_instance forall_false_witness forall_false_of_instance exists_false_of_all
    leibniz};
  val _ = null oracles orelse error ("ORACLES: " ^ commas (map (#1 o #1) oracles));
\<close>

end
