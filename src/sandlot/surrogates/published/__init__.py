"""The published learned simulator, as its source describes it: Cook (2017), chapter 6, versions 1 and 2."""
