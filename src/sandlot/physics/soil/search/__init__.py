"""Which nodes of the ground a shape touches, and where it is above each of them."""
