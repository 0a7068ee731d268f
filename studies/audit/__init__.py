"""The audit: several solvers on the same completions (``docs/audit.md``)."""
