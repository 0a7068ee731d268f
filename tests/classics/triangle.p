% Three neighbours need three colours: with two they cannot all differ.
cnf(france, axiom, red(france) | blue(france)).
cnf(spain, axiom, red(spain) | blue(spain)).
cnf(andorra, axiom, red(andorra) | blue(andorra)).
cnf(red_differ, axiom, ~ next(X, Y) | ~ red(X) | ~ red(Y)).
cnf(blue_differ, axiom, ~ next(X, Y) | ~ blue(X) | ~ blue(Y)).
cnf(one, negated_conjecture, next(france, spain)).
cnf(two, negated_conjecture, next(spain, andorra)).
cnf(three, negated_conjecture, next(france, andorra)).
