"""Clusters of points that lie near each other: DBSCAN in which no point is noise (6.6.3).

The source lets every point belong to a cluster: its ``min_samples`` of 0 is today's 1. Then clusters are the connected
parts of the graph of neighbours. For the few points of a scan, a compiled search finds them in microseconds, where
scikit-learn takes milliseconds for checks; for many points, its search trees are faster.
"""

import numpy as np

from sandlot.extras import need
from sandlot.kernels import kernel
from sandlot.typing import Array, IntArray

MANY = 2000
"""More points than these are clustered by scikit-learn."""


def cluster(places: Array, distance: float) -> IntArray:
    """Which cluster each point belongs to, from 0 in the order of the points: (n,).

    Args:
        places: (n, dims)
        distance: Points within this distance of each other are of one cluster.
    """
    if len(places) <= MANY:
        return connect(np.ascontiguousarray(places, np.float64), np.full(len(places), distance))
    return np.asarray(need("sklearn.cluster", "maps").DBSCAN(eps=distance, min_samples=1).fit(places).labels_)


@kernel(error_model="numpy", nogil=True)
def connect(places: Array, reach: Array) -> IntArray:
    """Which cluster each point belongs to, from 0 in the order of the points: (n,).

    Args:
        places: (n, dims)
        reach: (n,) two points are of one cluster if their distance is at most the reach of both.
    """
    count = places.shape[0]
    labels, waiting, label = np.full(count, -1), np.empty(count, np.int64), 0
    for first in range(count):
        if labels[first] >= 0:
            continue
        labels[first], waiting[0], length = label, first, 1
        while length > 0:
            length -= 1
            one = waiting[length]
            for other in range(count):
                if labels[other] >= 0:
                    continue
                square, limit = 0.0, min(reach[one], reach[other])
                for k in range(places.shape[1]):
                    square += (places[one, k] - places[other, k]) ** 2
                if square <= limit * limit:
                    labels[other], waiting[length] = label, other
                    length += 1
        label += 1
    return labels
