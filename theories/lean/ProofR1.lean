import ProofR1.Logic
import ProofR1.Schemata
import ProofR1.Closure
import ProofR1.Domains
