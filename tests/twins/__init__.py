"""Plain twins of the kernels: slow, obvious, and written from the sources rather than from the kernels."""
