"""What all tests share."""

import os

import numpy as np
import pytest
from hypothesis import settings
from numba import config

import chromium

# The same examples every time, so that what fails was broken by a change; `make test-all` searches for new ones.
settings.register_profile("search", deadline=None, max_examples=30, print_blob=True)
settings.register_profile("same", settings.get_profile("search"), derandomize=True)
settings.load_profile("same")

# Checkers of Gymnasium try every render mode; "human" would open a window.
os.environ["BROWSER"] = "true"

if config.DISABLE_JIT:
    # Random streams wrap around on purpose; compiled code does so silently, NumPy's scalars warn.
    np.seterr(over="ignore")


@pytest.fixture(scope="session")
def browser():
    path = chromium.find()
    if path is None:
        pytest.skip("no Chromium here; make test installs one where it can")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
        yield opened
        opened.close()
