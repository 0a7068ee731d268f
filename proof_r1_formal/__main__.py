"""``python -m proof_r1_formal``: the command ``proof-r1``."""

from proof_r1_formal.cli import main

if __name__ == "__main__":
    main()
