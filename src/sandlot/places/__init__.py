"""What the ground and the walls look like: terrains and floor plans."""
