"""A second process helps to compile, and ends with the first one's work."""

import subprocess
import time

import numba
import numpy as np
import pytest
from numba.core import config, types

from sandlot.kernels import kernel
from sandlot.kernels.helper import compile_inner, helper_process
from sandlot.kernels.operators import remembered_types

compiled = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
WAIT = "import pathlib, sys, time; pathlib.Path(__file__).with_suffix('.txt').write_text(sys.argv[1]); time.sleep(600)"


def test_a_helper_is_told_what_is_wanted_and_ends_with_the_work(tmp_path, monkeypatch):
    started, popen = [], subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **given: started.append(popen(*args, **given)) or started[0])
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "endless_helper.py").write_text(WAIT)
    told = tmp_path / "endless_helper.txt"
    with helper_process("endless_helper", "a file"):
        while not (told.is_file() and told.read_text()):
            assert started[0].poll() is None
            time.sleep(0.01)
    assert told.read_text() == "a file"
    assert started[0].poll() is not None


def test_no_helper_and_one_that_fails_change_nothing():
    for module in ("", "no_such_module"):
        with helper_process(module, "a file"):
            pass


@compiled
def test_a_kernel_is_compiled_as_others_call_it():
    @kernel(allocates=False)
    def double(values):
        return 2.0 * values[0]

    compile_inner(double, (np.zeros(3),))
    assert list(double.inner.overloads) == [(types.Array(types.float64, 1, "C"),)]
    assert not double.overloads


@compiled
def test_types_are_searched_once_while_kernels_compile(monkeypatch):
    asked = []
    search = types.BaseFunction.get_call_type
    monkeypatch.setattr(
        types.BaseFunction, "get_call_type", lambda *args: asked.append((args[0], tuple(args[2]))) or search(*args)
    )
    before = types.BaseFunction.get_call_type

    def total(a, b, n):
        return a + b + (a + b) + (b + a) + (n + n) + (a - n)

    with remembered_types():
        inside = numba.njit(total)
        assert inside(0.25, 2.0, 3) == total(0.25, 2.0, 3)
        sums = [args for _, args in asked if args == (types.float64, types.float64)]
    assert len(sums) <= 2
    assert types.BaseFunction.get_call_type is before
