% Three pigeons do not fit into two holes. No clause is a conjecture: do they contradict each other?
cnf(first, axiom, in(a, one) | in(a, two)).
cnf(second, axiom, in(b, one) | in(b, two)).
cnf(third, axiom, in(c, one) | in(c, two)).
cnf(hole_ab, axiom, ~ in(a, H) | ~ in(b, H)).
cnf(hole_ac, axiom, ~ in(a, H) | ~ in(c, H)).
cnf(hole_bc, axiom, ~ in(b, H) | ~ in(c, H)).
