"""How a chain of links swims: the reduced model, and the forces for MuJoCo."""
