"""Hyperparameters of deep Q-learning: the source's sweep over a grid, and a search of the same space with pruning."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.extras import need
from sandlot.kernels.randomness import children, streams
from sandlot.learning.dqn import Learner, shares_of
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, Value, pick, study
from sandlot.studies.indoor.agents import EASY, LEARNER, SOURCE, WORLD, examine
from sandlot.studies.plots import COLOURS, canvas

Values = Annotated[tuple[float, ...], Field(min_length=1), AfterValidator(distinct)]
ROUNDS = 8
"""A search looks at an agent so often before it has learned all episodes, and may give it up."""
GIVE_UP = 3
"""Of agents that have come equally far, a search lets the best one of so many go on."""


@study("indoor.sweep", source=f"{SOURCE}, 6.10.4")
class Sweep(Study):
    """Which learning rate, discount and decay of epsilon train the best avoider, and how much work does a search save?

    The source tried 336 combinations of the three on ten machines of a cluster, for more than a day; one agent took 40
    minutes for 4,000 easy episodes. It does not list the 336; the loop that it prints has 770. The grid here has 336
    around its optimum. An agent's score is the mean sum of rewards over 50 episodes without random moves, as in the
    source. Then Optuna searches the same space: it proposes combinations by what it has seen, and gives up agents that
    fall behind (successive halving).

    Attributes:
        rates: Learning rates, alpha.
        discounts: Discount factors, gamma.
        decays: Factors of epsilon after each episode.
        episodes: Of each agent.
        scored: Episodes of the score.
        tested: Unseen situations of the share of goals reached.
        searches: How often the search is repeated with other seeds.
        trials: Agents that each search begins.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "score": Quantity("1", "mean sum of rewards without random moves"),
        "reached": Quantity("1", "share of unseen situations in which the goal is reached"),
        "episodes_played": Quantity("1", "episodes that agents have learned from"),
        "best_rate": Quantity("1", "learning rate of the best agent"),
        "best_discount": Quantity("1", "discount of the best agent"),
        "best_decay": Quantity("1", "decay of epsilon of the best agent"),
    }

    rates: Values = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
    discounts: Values = (1.0, 0.99, 0.98, 0.95, 0.9, 0.8)
    decays: Values = (0.9999, 0.9996, 0.9992, 0.999, 0.9985, 0.998, 0.995)
    episodes: int = Field(4000, ge=ROUNDS)
    scored: int = Field(50, ge=1)
    tested: int = Field(500, ge=1)
    searches: int = Field(3, ge=0, le=1000)
    trials: int = Field(40, ge=1)

    def check(self) -> None:
        """Refuse to begin if the searches at the end could not run."""
        if self.searches:
            need("optuna", "tune")

    def jobs(self) -> Iterator[Job]:
        """Every combination once; then the searches."""
        grid: list[dict[str, Value]] = [
            {"method": "grid", "rate": rate, "discount": discount, "decay": decay, "replicate": 0}
            for rate in self.rates
            for discount in self.discounts
            for decay in self.decays
        ]
        nothing: dict[str, Value] = {"rate": 0.0, "discount": 0.0, "decay": 0.0}
        grid += [{"method": "search", **nothing, "replicate": k} for k in range(self.searches)]
        return self.each(grid)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Train the agent of a combination, or search."""
        given = job.parameters
        if given["method"] == "search":
            return self._search(job.seed)
        agent = self._agent(job.seed, float(given["rate"]), float(given["discount"]), float(given["decay"]))
        agent.learn(shares_of(EASY, self.episodes))
        return self._found(agent, self.episodes)

    def _agent(self, seed: np.random.SeedSequence, rate: float, discount: float, decay: float) -> Learner:
        settings = LEARNER.model_copy(update={"rate": rate, "discount": discount, "epsilon_decay": decay})
        return Learner(settings, WORLD, seed)

    def _score(self, agent: Learner, seed: np.random.SeedSequence) -> float:
        mean = float(agent.test("easy", streams(seed, self.scored)).rewards.mean())
        return mean if np.isfinite(mean) else -WORLD.prize

    def _found(self, agent: Learner, episodes: int) -> dict[str, float]:
        settings = agent.settings
        return {
            "score": self._score(agent, np.random.SeedSequence(self.seed, spawn_key=(0, 0))),
            "reached": examine(agent, "easy", self.tested, self.seed).success,
            "episodes_played": float(episodes),
            "best_rate": settings.rate,
            "best_discount": settings.discount,
            "best_decay": settings.epsilon_decay,
        }

    def _search(self, seed: np.random.SeedSequence) -> dict[str, float]:
        """Let Optuna choose combinations of the grid, and give up agents that fall behind."""
        optuna: Any = need("optuna", "tune")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        choosing, scoring, *agents = children(seed, 2 + self.trials)
        search = optuna.create_study(
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=int(choosing.generate_state(1)[0])),
            pruner=optuna.pruners.SuccessiveHalvingPruner(
                min_resource=1, reduction_factor=GIVE_UP, min_early_stopping_rate=0
            ),
        )
        shares = shares_of(EASY, self.episodes)
        played, best, top = 0, None, -np.inf

        def objective(trial: Any) -> float:
            nonlocal played, best, top
            agent = self._agent(
                agents[trial.number],
                trial.suggest_categorical("rate", self.rates),
                trial.suggest_categorical("discount", self.discounts),
                trial.suggest_categorical("decay", self.decays),
            )
            score = -np.inf
            for k, part in enumerate(np.array_split(shares, ROUNDS)):
                agent.learn(part, self.episodes)
                played += len(part)
                score = self._score(agent, scoring)
                trial.report(score, k + 1)
                if k + 1 < ROUNDS and trial.should_prune():
                    raise optuna.TrialPruned
            if score > top:
                best, top = agent, score
            return score

        search.optimize(objective, n_trials=self.trials)
        assert best is not None  # the first agent is never given up
        return self._found(best, played)

    def figure(self, results: xr.Dataset) -> Figure:
        """Scores of the grid, with the best decay of each; a circle marks the source's. Right: what searches need."""
        grid = pick(results, method="grid")
        figure, axes = canvas(2, 11.0, 4.4)
        scores = np.full((len(self.discounts), len(self.rates)), np.nan)
        for i, discount in enumerate(self.discounts):
            for j, rate in enumerate(self.rates):
                scores[i, j] = pick(grid, discount=discount, rate=rate)["score"].values.max()
        shown = axes[0].imshow(scores, aspect="auto", cmap="viridis")
        axes[0].set_xticks(range(len(self.rates)), [f"{each:g}" for each in self.rates])
        axes[0].set_yticks(range(len(self.discounts)), [f"{each:g}" for each in self.discounts])
        axes[0].set(xlabel="learning rate", ylabel="discount", title="best score over decays of epsilon")
        axes[0].grid(visible=False)
        if 0.02 in self.rates and 0.98 in self.discounts:
            axes[0].plot(self.rates.index(0.02), self.discounts.index(0.98), "o", mfc="none", mec="red", ms=16, mew=2)
        figure.colorbar(shown, ax=axes[0])
        ordered = np.sort(grid["score"].values)[::-1]
        axes[1].plot(np.arange(1, len(ordered) + 1), ordered, color=COLOURS[0], label="grid, best first")
        for k, (score, played) in enumerate(self._searched(results)):
            agents = played / self.episodes
            axes[1].plot(agents, score, "*", color=COLOURS[1], ms=12, label="search" if k == 0 else None)
        axes[1].set(xlabel="agents trained for all episodes", ylabel="score")
        axes[1].legend()
        return figure

    def _searched(self, results: xr.Dataset) -> list[tuple[float, float]]:
        """Score and episodes of each search."""
        mine = pick(results, method="search")
        return list(zip(mine["score"].values.tolist(), mine["episodes_played"].values.tolist(), strict=True))

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What the source reports, and what a search saves."""
        grid = pick(results, method="grid")
        best = grid.isel(job=int(grid["score"].values.argmax()))
        source = pick(grid, rate=0.02, discount=0.98, decay=0.9985)
        found = [
            Claim(
                "The best combination is that of the source.",
                "alpha 0.02, gamma 0.98, decay 0.9985",
                f"alpha {float(best['rate']):g}, gamma {float(best['discount']):g}, decay {float(best['decay']):g}",
                (float(best["rate"]), float(best["discount"]), float(best["decay"])) == (0.02, 0.98, 0.9985),
                f"score {float(best['score']):.1f}, {float(best['reached']):.0%} of unseen easy situations; one agent "
                "each, so that neighbours of the best differ by chance",
            )
        ]
        if source.sizes["job"]:
            rank = int((grid["score"].values > float(source["score"].values[0])).sum()) + 1
            share = rank / grid.sizes["job"]
            found.append(
                Claim(
                    "The source's combination is among the better half.",
                    "best of 336",
                    f"number {rank} of {grid.sizes['job']}",
                    share <= 0.5,
                    f"score {float(source['score'].values[0]):.1f}",
                )
            )
        searched = self._searched(results)
        if searched:
            total = float(grid["episodes_played"].values.sum())
            work = np.mean([played for _, played in searched]) / total
            worst = min(score for score, _ in searched)
            top = np.sort(grid["score"].values)[-max(grid.sizes["job"] // 20, 1)]
            found.append(
                Claim(
                    "A search with pruning needs a tenth of the work for a result as good as the best 5% of the grid.",
                    "random search is typically faster than a grid",
                    f"{work:.1%} of the episodes; the worst of {len(searched)} searches scores {worst:.1f}, "
                    f"the best 5% at least {top:.1f}",
                    bool(work <= 0.1 and worst >= top),
                    f"best of the grid: {float(best['score']):.1f}",
                )
            )
        return found
