% Two types that share nothing: it does not follow that some person is a dog.
tff(person_type, type, person: $tType).
tff(dog_type, type, dog: $tType).
tff(owner_type, type, owner: dog > person).
tff(friend_type, type, friend: (person * person) > $o).
tff(owners, axiom, ! [D: dog] : ? [P: person] : friend(owner(D), P)).
tff(loner, conjecture, ! [P: person] : ? [Q: person] : friend(P, Q)).
