#!/bin/sh
# Build the theory with Lake, test it, and compare the axioms of its theorems with expected.txt. It needs elan, which brings
# Lean (https://lean-lang.org/install), and nothing of Python:
#
#     sh theories/check/run.sh
#
# The last line is "as expected". Otherwise the lines that differ are printed, and the status is 1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v lake >/dev/null; then
    echo "there is no lake on PATH; install elan: https://lean-lang.org/install" >&2
    exit 2
fi
cd "$here/../lean"
lake build
lake test
found=$(mktemp)
trap 'rm -f "$found"' EXIT
lake env lean "$here/Axioms.lean" >"$found"
diff "$here/expected.txt" "$found"
echo "as expected"
