"""How a chain of links swims: the fast model, and drag and momentum for MuJoCo."""
