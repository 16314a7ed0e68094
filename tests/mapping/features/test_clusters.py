"""The compiled search for clusters against scikit-learn's DBSCAN."""

import numpy as np
import pytest

from sandlot.mapping.features import clusters
from sandlot.mapping.features.clusters import cluster, connect

sklearn_cluster = pytest.importorskip("sklearn.cluster")


def dbscan(places, distance, metric="euclidean"):
    return sklearn_cluster.DBSCAN(eps=distance, min_samples=1, metric=metric).fit(places).labels_


@pytest.mark.parametrize("count", [1, 2, 30, 360])
@pytest.mark.parametrize("dims", [2, 3])
def test_clusters_are_those_of_dbscan(count, dims):
    places = np.random.default_rng(count).uniform(0.0, 10.0, (count, dims))
    for distance in (0.1, 0.5, 1.0):
        assert cluster(places, distance).tolist() == dbscan(places, distance).tolist()


def test_each_point_may_have_its_own_reach():
    rng = np.random.default_rng(0)
    places, reach = rng.uniform(0.0, 10.0, (300, 2)), rng.uniform(0.1, 1.0, 300)
    apart = np.hypot(*(places[:, None] - places).transpose(2, 0, 1)) / np.minimum(reach[:, None], reach)
    found = connect(places, reach)
    assert found.tolist() == dbscan(apart, 1.0, "precomputed").tolist()
    assert 10 < found.max() < 290


def test_many_points_are_clustered_alike(monkeypatch):
    places = np.random.default_rng(1).uniform(0.0, 10.0, (200, 2))
    expected = cluster(places, 0.5)
    monkeypatch.setattr(clusters, "MANY", 100)
    assert cluster(places, 0.5).tolist() == expected.tolist()


def test_no_points_have_no_clusters():
    assert cluster(np.empty((0, 2)), 1.0).shape == (0,)
