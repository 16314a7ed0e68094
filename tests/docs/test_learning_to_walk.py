import importlib.util
import re
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

EXAMPLE = Path(__file__).parents[2] / "docs/examples/learning_to_walk.py"


@pytest.fixture
def example(monkeypatch):
    """The example, with episodes of 0.2 s."""
    spec = importlib.util.spec_from_file_location("learning_to_walk", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "SECONDS", 0.2)
    return module


def test_the_single_world_passes_gymnasiums_checks(example):
    check_env(example.Walker())


def test_many_robots_are_as_many_single_ones(example):
    """Also after episodes have ended, with resets in the next step."""
    many = example.Walkers(3, threads=2)
    single = gymnasium.vector.SyncVectorEnv([example.Walker] * 3)
    rng = np.random.default_rng(0)
    seen, other = many.reset(seed=5)[0], single.reset(seed=5)[0]
    assert seen.shape == (3, 11)
    assert np.array_equal(seen, other)
    ends = 0
    for _ in range(25):
        actions = rng.uniform(-1.0, 1.0, (3, 4))
        one, two = many.step(actions), single.step(actions)
        for mine, its in zip(one[:4], two[:4], strict=True):
            assert mine.shape == its.shape
            assert np.array_equal(mine, its)
        ends += np.sum(one[2] | one[3])
    assert ends >= 6
    assert len({*seen[:, 2]}) == 3, "starts differ"


def test_a_robot_that_diverges_ends_its_episode_and_begins_anew(example):
    many = example.Walkers(2)
    many.reset(seed=0)
    many.datas[1].qvel[0] = np.nan
    seen, reward, terminated, *_ = many.step(np.zeros((2, 4)))
    assert terminated.tolist() == [False, True]
    assert np.isfinite(seen).all()
    assert reward[1] == 0.0
    assert not many.step(np.zeros((2, 4)))[2].any()
    assert not many.soils.diverged


def test_training_depends_on_the_seed_only(example, tmp_path, capsys):
    def trained(name, *options):
        example.main(["--robots", "4", "--generations", "2", "--out", str(tmp_path / name), *options])
        with np.load(tmp_path / name, allow_pickle=False) as file:
            return file["weights"]

    weights = trained("a.npz", "--threads", "1")
    lines = capsys.readouterr().out.splitlines()
    assert weights.shape == (example.WEIGHTS,)
    assert [line.split(":")[0] for line in lines] == [
        "generation 1",
        "generation 2",
        "soft ground, before training",
        "soft ground, after training",
        "rigid ground, before training",
        "rigid ground, after training",
    ]
    assert np.array_equal(weights, trained("b.npz", "--threads", "2"))
    assert not np.array_equal(weights, trained("c.npz", "--seed", "1"))


@pytest.mark.slow
def test_it_learns_to_walk_as_the_page_says(example, monkeypatch, tmp_path, capsys):
    page = (EXAMPLE.parents[1] / "many-robots.md").read_text(encoding="utf-8")
    shown = re.search(
        r"it walks (\S*) m in (?s:.*)walks (\S*) m on rigid(?s:.*)walked (\S*) m on soft ground and (\S*) m on"
        r"(?s:.*) took (\S*) s of",
        page,
    )
    monkeypatch.setattr(example, "SECONDS", 4.0)
    start = time.process_time()
    example.main(["--out", str(tmp_path / "walker.npz")])
    spent = time.process_time() - start
    found = dict(re.findall(r"(\w+ ground, \w+) training: (.*) m in", capsys.readouterr().out))
    *walked, seconds = map(float, shown.groups())
    assert float(found["soft ground, before"]) == pytest.approx(0.0, abs=0.1)
    soft, rigid = float(found["soft ground, after"]), float(found["rigid ground, after"])
    ours, other = walked[:2], walked[2:]  # on two processors
    assert any(soft == pytest.approx(a, rel=0.1) and rigid == pytest.approx(b, abs=0.3) for a, b in (ours, other))
    assert spent < 3.0 * seconds
