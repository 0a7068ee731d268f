"""Proof assistants: evidence as theorems of Lean and Isabelle/HOL, and what their kernels say of them."""
