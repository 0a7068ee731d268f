% A strict order is asymmetric.
include('axioms/order.ax', [irreflexive, transitive]).
fof(asymmetric, conjecture, ! [X, Y] : (less(X, Y) => ~ less(Y, X))).
