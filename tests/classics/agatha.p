% Who killed Aunt Agatha? (Schubert; Pelletier 55)
fof(killer, axiom, ? [X] : (lives(X) & killed(X, agatha))).
fof(agatha_lives, axiom, lives(agatha)).
fof(butler_lives, axiom, lives(butler)).
fof(charles_lives, axiom, lives(charles)).
fof(nobody_else, axiom, ! [X] : (lives(X) => (X = agatha | X = butler | X = charles))).
fof(killers_hate, axiom, ! [X, Y] : (killed(X, Y) => hates(X, Y))).
fof(killers_are_poorer, axiom, ! [X, Y] : (killed(X, Y) => ~ richer(X, Y))).
fof(charles_differs, axiom, ! [X] : (hates(agatha, X) => ~ hates(charles, X))).
fof(agatha_hates, axiom, ! [X] : (X != butler => hates(agatha, X))).
fof(butler_hates_poor, axiom, ! [X] : (~ richer(X, agatha) => hates(butler, X))).
fof(butler_follows, axiom, ! [X] : (hates(agatha, X) => hates(butler, X))).
fof(nobody_hates_all, axiom, ! [X] : ? [Y] : ~ hates(X, Y)).
fof(two_persons, axiom, agatha != butler).
fof(suicide, conjecture, killed(agatha, agatha)).
