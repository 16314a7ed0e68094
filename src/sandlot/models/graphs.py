"""Feed-forward nets as ONNX graphs, so that they run in other programs: onnxruntime, a microcontroller's tools."""

from typing import Any

import numpy as np

from sandlot.extras import need
from sandlot.models.dense import ACTIVATIONS, Dense, layers_of

OPERATORS = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid"}
OPSET, IR_VERSION = 17, 8
"""Old enough for runtimes of the last years."""


def to_onnx(net: Dense, description: str = "") -> bytes:
    """A net as a serialized ONNX graph: ``inputs`` (rows, inputs) to ``outputs`` (rows, outputs), 64-bit floats.

    Args:
        net: As `make_dense` makes.
        description: For the graph.
    """
    onnx = need("onnx", "onnx")
    helper, kind = onnx.helper, onnx.TensorProto.DOUBLE
    nodes: list[Any] = []
    constants: list[Any] = []
    last = "inputs"

    def add(operator: str, *inputs: str) -> str:
        nodes.append(helper.make_node(operator, list(inputs), [f"value.{len(nodes)}"]))
        return f"value.{len(nodes) - 1}"

    for k, (weights, biases) in enumerate(layers_of(net)):
        for name, values in (("weights", weights), ("biases", biases)):
            constants.append(onnx.numpy_helper.from_array(np.ascontiguousarray(values), f"{name}.{k}"))
        last = add("Add", add("MatMul", last, f"weights.{k}"), f"biases.{k}")
        activation = ACTIVATIONS[net.activations[k]]
        if activation == "softsign":  # onnxruntime has its Softsign only for 32-bit floats
            last = add("Div", last, add("Add", add("Abs", last), "one"))
        elif activation != "linear":
            last = add(OPERATORS[activation], last)
    constants.append(onnx.numpy_helper.from_array(np.ones(1), "one"))
    nodes.append(helper.make_node("Identity", [last], ["outputs"]))
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("inputs", kind, ["rows", int(net.sizes[0])])],
        [helper.make_tensor_value_info("outputs", kind, ["rows", int(net.sizes[-1])])],
        constants,
        description,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
