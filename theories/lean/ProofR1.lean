module
public import ProofR1.Logic
public import ProofR1.Schemata
public import ProofR1.Closure
public import ProofR1.Domains
public import ProofR1.Checker.Data
public import ProofR1.Checker.Syntax
public import ProofR1.Checker.Semantics
public import ProofR1.Checker.Proof
public import ProofR1.Checker.Soundness
public import ProofR1.Checker.Trace
public import ProofR1.Checker.Numbers
public import ProofR1.Checker.Finite
