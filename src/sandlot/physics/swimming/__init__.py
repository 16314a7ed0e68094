"""How a chain of links swims: the reduced model, and drag and momentum for MuJoCo."""
