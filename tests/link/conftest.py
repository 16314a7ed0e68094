"""A served rover, and a controller of it."""

import pytest

from link.rovers import ToyRover, serving
from sandlot.link.client import Client


@pytest.fixture
def served():
    with serving(ToyRover(), pace=1.0) as made:
        yield made


@pytest.fixture
def client(served):
    with Client(port=served.port, token=served.token) as made:
        yield made
