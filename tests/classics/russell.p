% There is no set of the sets that are not members of themselves.
fof(russell, conjecture, ~ ? [R] : ! [X] : (member(X, R) <=> ~ member(X, X))).
