"""Mutated inputs for every reader: `readers` is the table, `mutations` damages samples, `checks` judges the result."""
