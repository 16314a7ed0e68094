"""Forces and sinkage measured with Project Chrono's soil contact model (SCM), for comparison."""

PLATE = {0.01: 120.561, 0.02: 254.142, 0.03: 394.784, 0.04: 540.237, 0.05: 689.384, 0.06: 845.170, 0.07: 996.266}
"""Force [N] on the plate of `terrain.plate` by depth [m], on soft soil with a grid of 20 mm. The plate was lifted by
1 cm at a depth of 5 cm. Chrono counts every touched cell in full: 21 by 11 cells, 16% more area than the plate has."""

WHEEL = {
    ("soft", 0.0): (0.09239, -124.363),
    ("soft", 0.1): (0.08877, 65.337),
    ("soft", 0.3): (0.08372, 173.468),
    ("soft", 0.7): (0.05837, 269.724),
    ("mid", 0.0): (0.02634, -10.534),
    ("mid", 0.1): (0.02613, 77.726),
    ("mid", 0.3): (0.02558, 226.527),
    ("mid", 0.7): (0.02268, 278.209),
}
"""Sinkage [m] and drawbar pull [N] of the wheel of `terrain.wheel` by soil and slip, with a grid of 20 mm, a time step
of 1 ms, and bulldozing switched off."""

TORQUE = {
    ("soft", 0.0): 20.145,
    ("soft", 0.1): 64.967,
    ("soft", 0.3): 89.908,
    ("soft", 0.7): 110.346,
    ("mid", 0.0): 21.215,
    ("mid", 0.1): 43.011,
    ("mid", 0.3): 79.962,
    ("mid", 0.7): 93.528,
}
"""Torque of the motor of the same wheel [N*m]."""
