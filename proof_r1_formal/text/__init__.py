"""Text to formulas and back: notations, the check for two readings, repair, printing.

``conventions`` has the names of notations that are read, ``grammar`` and the folder ``grammars`` their syntax. ``show``
has the notations that are written; those of other systems are in the package ``render``.
"""
