"""How things move: kernels on arrays, and the terrains they act on."""
