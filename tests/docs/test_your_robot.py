"""The example that puts a robot on soft soil, on a computer without a screen."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "docs/examples/your_robot.py"
SHORT = "import runpy, sys; sys.argv = sys.argv[1:]; run = runpy.run_path(sys.argv[0])['main']; \
run.__globals__['SECONDS'] = 0.08; run()"


def run(folder, code, **more):
    kept = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL")}
    command = [sys.executable, "-c", code, EXAMPLE]
    return subprocess.run(command, cwd=folder, env={**kept, **more}, capture_output=True, text=True, check=False)


def test_it_draws_without_a_screen(tmp_path):
    done = run(tmp_path, SHORT)
    if "cannot draw" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    assert "The moving picture is your_robot.gif." in done.stdout
    assert (tmp_path / "your_robot.gif").stat().st_size > 10_000


def test_where_mujoco_cannot_draw_it_says_so_in_one_line(tmp_path):
    done = run(tmp_path, SHORT, MUJOCO_GL="glfw")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert re.search("^MuJoCo cannot draw here: install libegl1", done.stderr, re.MULTILINE)
