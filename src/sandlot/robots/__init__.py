"""Bodies: what they are made of, and how they are simulated."""
