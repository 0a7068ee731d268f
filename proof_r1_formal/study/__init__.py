"""Studies: systems on data sets beside each other, their errors, and judgements of models on steps."""
