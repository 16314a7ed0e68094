"""What the source, Nehmzow, Kerr and Billings 2009, reports of its sensor models."""

import numpy as np

SOURCE = "Nehmzow, Kerr and Billings 2009"
ERRORS = np.array([[60, 53, 31, 17, 21, 20], [62, 46, 66, 39, 29, 27]]) / 100.0
STANDARD_ERRORS = np.array([[5, 5, 4, 4, 2, 2], [3, 4, 4, 3, 4, 3]]) / 100.0
"""Mean absolute errors of six segments on both validation drives, and their standard errors [m]: tables 1 and 2."""
BEST, OTHER = (float(100.0 * each) for each in ERRORS.mean(1))
"""Mean absolute errors over all segments in tables 1 and 2 [cm]."""
RANKS = np.array([0.7264930, 0.3045180, 0.9775737, 0.9275737, 0.7720901, 0.7360612])
"""Spearman's rank correlations of the second drive: table 3."""
