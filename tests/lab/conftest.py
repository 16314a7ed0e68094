"""A scene of viser that only remembers."""

from types import SimpleNamespace

import pytest


class Remembered(SimpleNamespace):
    """A node of the scene."""

    def remove(self):
        self.removed = True
        self.scene.nodes.pop(self.name, None)


class FakeScene:
    """Stands for ``server.scene``: keeps what was added, by name."""

    def __init__(self):
        self.nodes, self.added = {}, 0

    def __getattr__(self, method):
        def add(name, *given, **named):
            self.added += 1
            node = Remembered(scene=self, name=name, method=method, given=given, removed=False)
            vars(node).update({"visible": True, **named})
            self.nodes[name] = node
            return node

        return add


@pytest.fixture
def scene():
    return FakeScene()
