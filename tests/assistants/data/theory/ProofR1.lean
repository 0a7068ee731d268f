import ProofR1.Schemata
