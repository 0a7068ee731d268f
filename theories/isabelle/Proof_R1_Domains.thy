theory Proof_R1_Domains
  imports Main
begin

text \<open>Domains of one to four elements, for countermodels: quantifiers over them are finite conjunctions and disjunctions.\<close>

datatype dom1 = D1_0

lemma dom1_all: "(\<forall>x::dom1. P x) \<longleftrightarrow> P D1_0"
proof
  assume "\<forall>x. P x"
  then show "P D1_0" by blast
next
  assume a: "P D1_0"
  show "\<forall>x. P x"
  proof
    fix x show "P x" using a by (cases x) simp_all
  qed
qed

lemma dom1_ex: "(\<exists>x::dom1. P x) \<longleftrightarrow> P D1_0"
proof -
  have "(\<exists>x::dom1. P x) \<longleftrightarrow> \<not> (\<forall>x. \<not> P x)" by blast
  also have "\<dots> \<longleftrightarrow> P D1_0" by (simp add: dom1_all)
  finally show ?thesis .
qed

datatype dom2 = D2_0 | D2_1

lemma dom2_all: "(\<forall>x::dom2. P x) \<longleftrightarrow> P D2_0 \<and> P D2_1"
proof
  assume "\<forall>x. P x"
  then show "P D2_0 \<and> P D2_1" by blast
next
  assume a: "P D2_0 \<and> P D2_1"
  show "\<forall>x. P x"
  proof
    fix x show "P x" using a by (cases x) simp_all
  qed
qed

lemma dom2_ex: "(\<exists>x::dom2. P x) \<longleftrightarrow> P D2_0 \<or> P D2_1"
proof -
  have "(\<exists>x::dom2. P x) \<longleftrightarrow> \<not> (\<forall>x. \<not> P x)" by blast
  also have "\<dots> \<longleftrightarrow> P D2_0 \<or> P D2_1" by (simp add: dom2_all)
  finally show ?thesis .
qed

datatype dom3 = D3_0 | D3_1 | D3_2

lemma dom3_all: "(\<forall>x::dom3. P x) \<longleftrightarrow> P D3_0 \<and> P D3_1 \<and> P D3_2"
proof
  assume "\<forall>x. P x"
  then show "P D3_0 \<and> P D3_1 \<and> P D3_2" by blast
next
  assume a: "P D3_0 \<and> P D3_1 \<and> P D3_2"
  show "\<forall>x. P x"
  proof
    fix x show "P x" using a by (cases x) simp_all
  qed
qed

lemma dom3_ex: "(\<exists>x::dom3. P x) \<longleftrightarrow> P D3_0 \<or> P D3_1 \<or> P D3_2"
proof -
  have "(\<exists>x::dom3. P x) \<longleftrightarrow> \<not> (\<forall>x. \<not> P x)" by blast
  also have "\<dots> \<longleftrightarrow> P D3_0 \<or> P D3_1 \<or> P D3_2" by (simp add: dom3_all)
  finally show ?thesis .
qed

datatype dom4 = D4_0 | D4_1 | D4_2 | D4_3

lemma dom4_all: "(\<forall>x::dom4. P x) \<longleftrightarrow> P D4_0 \<and> P D4_1 \<and> P D4_2 \<and> P D4_3"
proof
  assume "\<forall>x. P x"
  then show "P D4_0 \<and> P D4_1 \<and> P D4_2 \<and> P D4_3" by blast
next
  assume a: "P D4_0 \<and> P D4_1 \<and> P D4_2 \<and> P D4_3"
  show "\<forall>x. P x"
  proof
    fix x show "P x" using a by (cases x) simp_all
  qed
qed

lemma dom4_ex: "(\<exists>x::dom4. P x) \<longleftrightarrow> P D4_0 \<or> P D4_1 \<or> P D4_2 \<or> P D4_3"
proof -
  have "(\<exists>x::dom4. P x) \<longleftrightarrow> \<not> (\<forall>x. \<not> P x)" by blast
  also have "\<dots> \<longleftrightarrow> P D4_0 \<or> P D4_1 \<or> P D4_2 \<or> P D4_3" by (simp add: dom4_all)
  finally show ?thesis .
qed

ML \<open>
  val oracles = Thm_Deps.all_oracles @{thms dom1_all dom1_ex dom2_all dom2_ex dom3_all dom3_ex dom4_all dom4_ex};
  val _ = null oracles orelse error ("ORACLES: " ^ commas (map (#1 o #1) oracles));
\<close>

end
