import Lake
open Lake DSL

package proof_r1_formal

/-- The rule schemata, the calculus of proof terms and conditional soundness as theorems; Lean's core is all they need.
`theories/lean/mini` is not part of it: that is for a Lean without its library. -/
@[default_target]
lean_lib ProofR1 where
  srcDir := "theories/lean"
  roots := #[`ProofR1]
  globs := #[.one `ProofR1, .one `ProofR1.Logic, .one `ProofR1.Schemata, .one `ProofR1.Closure, .one `ProofR1.Domains,
    .one `ProofR1.Checker.Data, .one `ProofR1.Checker.Syntax, .one `ProofR1.Checker.Semantics,
    .one `ProofR1.Checker.Proof, .one `ProofR1.Checker.Soundness, .one `ProofR1.Checker.Trace,
    .one `ProofR1.Checker.Finite]
