% Smullyan: in every bar there is someone such that, if they drink, everyone does.
fof(drinker, conjecture, ? [X] : (drinks(X) => ! [Y] : drinks(Y))).
