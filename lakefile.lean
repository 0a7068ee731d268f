import Lake
open Lake DSL

package proof_r1_formal where
  version := v!"0.1.0"
  description := "Rule schemata of first-order reasoning as theorems, and a checker of proofs and traces that is proved sound"
  keywords := #["logic", "first-order logic", "proof checker"]
  license := "Apache-2.0"
  licenseFiles := #["LICENSE"]

/-- The rule schemata, the calculus of proof terms and conditional soundness as theorems; Lean's core is all they need.
`theories/lean` is a package of its own, for projects that require it. `theories/lean/mini` is not part of it: that is for
a Lean without its library. -/
@[default_target]
lean_lib ProofR1 where
  srcDir := "theories/lean"
  roots := #[`ProofR1]
