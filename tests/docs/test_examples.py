import subprocess
import sys
from pathlib import Path


def test_the_example_of_adding_a_world_works(tmp_path):
    check = Path(__file__).parents[2] / "docs/examples/check.py"
    done = subprocess.run([sys.executable, check], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Critical damping" in done.stdout
