% Knights say what is true, knaves what is false (Smullyan). Ann says that both of them are knaves.
tff(person_type, type, person: $tType).
tff(ann_type, type, ann: person).
tff(bob_type, type, bob: person).
tff(knight_type, type, knight: person > $o).
tff(ann_says, axiom, knight(ann) <=> (~ knight(ann) & ~ knight(bob))).
tff(solution, conjecture, ~ knight(ann) & knight(bob)).
