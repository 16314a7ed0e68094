import subprocess
import sys
from pathlib import Path


def test_the_walking_example_walks(tmp_path):
    example = Path(__file__).parents[2] / "docs/examples/walking.py"
    done = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("rigid: ")
    assert (tmp_path / "walking.png").stat().st_size > 10_000
