"""Dense nets: the kernel agrees with its NumPy twin, and nets come back from disk unchanged."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.errors import ModelError
from sandlot.models import store
from sandlot.models.card import Card
from sandlot.models.dense import (
    ACTIVATIONS,
    BLOCK,
    forward,
    forward_block,
    forward_one,
    load_dense,
    make_dense,
    save_dense,
    single,
)

TWIN = {
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0.0),
    "tanh": np.tanh,
    "logistic": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "softsign": lambda x: x / (1.0 + np.abs(x)),
}


def layers(seed, sizes):
    rng = np.random.default_rng(seed)
    weights = [rng.normal(size=pair) for pair in itertools.pairwise(sizes)]
    return weights, [rng.normal(size=size) for size in sizes[1:]]


def twin(weights, biases, activations, rows):
    for weight, bias, activation in zip(weights, biases, activations, strict=True):
        rows = TWIN[activation](rows @ weight + bias)
    return rows


@given(
    st.integers(0, 2**32),
    st.lists(st.integers(1, 9), min_size=2, max_size=5),
    st.sampled_from([0, 1, 2, BLOCK - 1, BLOCK, 2 * BLOCK + 3]),
    st.data(),
)
def test_kernel_equals_numpy_twin(seed, sizes, count, data):
    weights, biases = layers(seed, sizes)
    names = [data.draw(st.sampled_from(ACTIVATIONS)) for _ in biases]
    rows = np.random.default_rng(seed + 1).normal(size=(count, sizes[0]))
    found = forward(make_dense(weights, biases, names), rows)
    assert found.shape == (count, sizes[-1])
    np.testing.assert_allclose(found, twin(weights, biases, names, rows), rtol=1e-10, atol=1e-12)


def test_a_row_does_not_depend_on_its_batch():
    net = make_dense(*layers(0, (4, 32, 6)), ("tanh", "linear"))
    rows = np.random.default_rng(1).normal(size=(100, 4))
    together = forward(net, rows)
    for k in (0, 31, 32, 99):
        np.testing.assert_array_equal(forward(net, rows[k : k + 1])[0], together[k])


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_one_row_gives_the_same_bits_as_a_block(activation):
    net = make_dense(*layers(2, (5, 17, 3)), (activation, "linear"))
    rows = np.random.default_rng(3).normal(size=(40, 5))
    together = forward(net, rows)
    for row, outputs in zip(rows, together, strict=True):
        work = np.zeros((2, 17))
        work[0, :5] = row
        np.testing.assert_array_equal(work[forward_one(net, work), :3], outputs)


def test_it_computes_what_scikit_learn_does():
    from sklearn.neural_network import MLPRegressor

    rng = np.random.default_rng(0)
    model = MLPRegressor(hidden_layer_sizes=(16, 8), max_iter=5, random_state=0, tol=1e9)
    model.fit(rng.normal(size=(40, 3)), rng.normal(size=(40, 2)))
    net = make_dense(model.coefs_, model.intercepts_, ("relu", "relu", "linear"))
    rows = rng.normal(size=(50, 3))
    np.testing.assert_allclose(forward(net, rows), model.predict(rows), rtol=1e-12, atol=1e-12)


def test_a_net_comes_back_unchanged(tmp_path):
    net = make_dense(*layers(0, (3, 5, 2)), ("tanh", "logistic"))
    save_dense(tmp_path / "net", net, Card(kind="dense", description="a test", settings={"inputs": ["a", "b", "c"]}))
    again, card = load_dense(tmp_path / "net")
    for one, other in zip(again, net, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert (card.kind, card.description) == ("dense", "a test")
    assert card.settings == {"inputs": ["a", "b", "c"], "activations": ["tanh", "logistic"]}


@pytest.mark.parametrize(
    ("settings", "arrays", "said"),
    [
        ({}, {}, "settings.activations should name the activation of each layer"),
        ({"activations": []}, {}, "a net needs weights, biases and an activation"),
        ({"activations": ["relu", "relu"]}, {}, r"the array weights\.1 is missing"),
        ({"activations": ["sine"]}, {}, "activation=sine is not possible; allowed: linear, relu, tanh, logistic"),
        ({"activations": [[]]}, {}, "is not possible"),
        ({"activations": ["relu"]}, {"biases.0": np.zeros(3)}, r"weights of layer 0 have shape \(3, 2\); expected"),
        ({"activations": ["relu"]}, {"weights.0": np.zeros(3)}, r"the array weights\.0 is float64 of shape \(3,\)"),
        ({"activations": ["relu"]}, {"weights.0": np.zeros((0, 2))}, "weights of layer 0 have shape"),
    ],
)
def test_layers_that_do_not_fit_are_named(tmp_path, settings, arrays, said):
    sound = {"weights.0": np.zeros((3, 2)), "biases.0": np.zeros(2)}
    store.save(tmp_path / "net", Card(kind="dense", settings=settings), sound | arrays)
    with pytest.raises(ModelError, match=said) as error:
        load_dense(tmp_path / "net")
    assert str(error.value).startswith(f"{tmp_path / 'net'}: ")


def test_32_bit_nets_give_the_same_alone_and_in_a_block():
    rng = np.random.default_rng(5)
    weights = [rng.normal(size=size) for size in ((7, 9), (9, 3))]
    net = make_dense(weights, [rng.normal(size=9), rng.normal(size=3)], ("softsign", "linear"))
    rows = rng.normal(size=(BLOCK, 7))
    block, line = np.zeros((2, 10, BLOCK), np.float32), np.zeros((2, 9), np.float32)
    block[0, :7] = rows.T
    found = block[forward_block(single(net), block)][:3].T
    np.testing.assert_allclose(found, forward(net, rows), rtol=1e-4, atol=1e-5)
    for row, expected in zip(rows, found, strict=True):
        line[0, :7] = row
        np.testing.assert_array_equal(line[forward_one(single(net), line)][:3], expected)
