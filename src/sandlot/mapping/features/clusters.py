"""Clusters of points that lie near each other: DBSCAN of scikit-learn, in which no point is noise (6.6.3)."""

import numpy as np

from sandlot.extras import need
from sandlot.typing import Array, IntArray


def cluster(places: Array, distance: float, precomputed: bool = False) -> IntArray:
    """Which cluster each point belongs to, from 0: (n,).

    The source lets every point belong to a cluster: its ``min_samples`` of 0 is today's 1.

    Args:
        places: (n, dims), or the distances between all points (n, n) if ``precomputed``.
        distance: Points within this distance of each other are of one cluster.
        precomputed: Whether distances are given.
    """
    if not len(places):
        return np.empty(0, np.int64)
    dbscan, metric = need("sklearn.cluster", "maps").DBSCAN, "precomputed" if precomputed else "euclidean"
    # For so few points, checks of parameters and search trees take longer than the clustering.
    with need("sklearn", "maps").config_context(assume_finite=True, skip_parameter_validation=True):
        return dbscan(eps=distance, min_samples=1, metric=metric, algorithm="brute").fit(places).labels_
