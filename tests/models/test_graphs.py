"""Nets run under onnxruntime with the same numbers."""

import numpy as np
import pytest

from sandlot.models.dense import ACTIVATIONS, forward, make_dense
from sandlot.models.graphs import to_onnx
from sandlot.surrogates.terrain import motion_model

onnxruntime = pytest.importorskip("onnxruntime")


def run(graph, rows):
    (outputs,) = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"]).run(None, {"inputs": rows})
    return outputs


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation_gives_the_same_numbers(activation):
    rng = np.random.default_rng(0)
    weights, biases = [rng.normal(size=(4, 6)), rng.normal(size=(6, 2))], [rng.normal(size=6), rng.normal(size=2)]
    net = make_dense(weights, biases, [activation, "linear"])
    rows = rng.normal(size=(9, 4))
    np.testing.assert_allclose(run(to_onnx(net), rows), forward(net, rows), rtol=1e-12, atol=1e-12)


def test_the_shipped_rover_gives_the_same_numbers():
    model = motion_model.load_motion(motion_model.SHIPPED / "wheeled")
    rng = np.random.default_rng(1)
    for net in (*model.drives, model.settle):
        rows = rng.normal(0.0, 0.1, (500, int(net.sizes[0])))
        outputs = forward(net, rows)
        np.testing.assert_allclose(run(to_onnx(net), rows), outputs, rtol=1e-10, atol=1e-10 * np.abs(outputs).max())
