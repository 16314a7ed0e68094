"""Controllers of the climbing robot (Vincent 2008): reactive, neural and reinforced."""
