% Aristotle's syllogism Barbara.
fof(men, axiom, ! [X] : (man(X) => mortal(X))).
fof(fact, axiom, man(socrates)).
fof(mortal, conjecture, mortal(socrates)).
