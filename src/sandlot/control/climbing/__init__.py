"""Controllers of the climbing robot: Vincent 2008 (reactive, neural, reinforced), a trained net, and a planner."""
