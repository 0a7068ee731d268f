"""The verifier where others train: reward functions and data in the shapes that they want.

Each module is for one framework, and is imported only by who has it. A problem travels as one text, its record in JSON
(``data.native.to_json``), as data sets and trainers carry texts best.
"""
