import re
import subprocess
import sys
from pathlib import Path


def test_the_first_example_of_soil_runs_as_it_is(tmp_path):
    page = (Path(__file__).parents[2] / "docs/soil.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert example
    done = subprocess.run([sys.executable, "-c", example[1]], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"It stands \d+ mm deep, and the soil carries 21[56] N\.\n", done.stdout), done.stdout
