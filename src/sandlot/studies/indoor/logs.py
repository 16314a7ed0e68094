"""Maps of real logs: scored where there is a reference, drawn, and compared with published figures and KISS-ICP."""

import math
import time
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.errors import SandlotError
from sandlot.mapping.mapper import MAX_RANGE, Mapper
from sandlot.mapping.matching.points import scan_points
from sandlot.mapping.occupancy_map import OccupancyMap
from sandlot.mapping.pictures import draw_map
from sandlot.mapping.trajectories import Trajectory, position_error, relation_errors
from sandlot.mapping.wall_thickness import wall_thickness
from sandlot.recordings import Quantity
from sandlot.recordings.logs import ScanLog, read_scans
from sandlot.recordings.logs.data import VARIABLE, data_folder, locate_log
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, pick, study
from sandlot.studies.plots import COLOURS
from sandlot.typing import Array

Name = Literal["fr079", "intel", "rover5-6aug14", "rover5-24jul14"]
Method = Literal["odometry", "scans", "kiss-icp", "given"]
FILES: dict[str, str] = {
    "fr079": "fr079/fr079.log.gz",
    "intel": "intel-lab/intel-graph.log.gz",
    "rover5-6aug14": "rover5-rplidar/6aug14.log.gz",
    "rover5-24jul14": "rover5-rplidar/24jul14.log.gz",
}
RELATIONS = "fr079/fr079.relations.gz"
METHODS: dict[str, str] = {
    "odometry": "Mapper, with odometry",
    "scans": "Mapper, scans alone",
    "kiss-icp": "KISS-ICP, scans alone",
    "given": "poses in the log",
}
PUBLISHED = {"corrected poses": 0.051, "RBPF": 0.061, "graph mapping": 0.056, "Cartographer": 0.0452}
"""Mean translational errors on the relations of fr079 [m]: of the corrected poses that are published with the log; of
Kuemmerle et al. 2009; and of Hess et al. 2016."""
SECONDS = 60.0
"""Bar of the time to map fr079 [s]."""


@cache
def read(path: Path) -> ScanLog:
    """All scans of a log; kept, since several jobs of a worker need them."""
    return read_scans(path)


def run_kiss_icp(log: ScanLog) -> Array:
    """Poses (n, 3) by KISS-ICP with its default settings, of scans as points in a plane [m, rad]."""
    from kiss_icp.config import load_config
    from kiss_icp.kiss_icp import KissICP

    config = load_config(None)
    config.data.max_range, config.data.min_range, config.data.deskew = MAX_RANGE, 0.0, False
    config.mapping.voxel_size = MAX_RANGE / 100.0  # its own default rule
    odometry, poses = KissICP(config), []
    for scan in log.scans:
        points = scan_points(scan, log.mount, max_range=MAX_RANGE)
        odometry.register_frame(np.column_stack([points, np.zeros(len(points))]), np.zeros(len(points)))
        pose = odometry.last_pose
        poses.append((pose[0, 3], pose[1, 3], math.atan2(pose[1, 0], pose[0, 0])))
    return np.array(poses)


@study("indoor.logs", source="Kuemmerle et al. 2009; Hess et al. 2016")
class Logs(Study):
    """How good are maps of real logs?

    Four logs, all with the same settings. fr079 (building 79, Freiburg, 4,791 scans) has 1,685 relations between poses
    that were verified by hand; the error is the mean distance between measured and mapped relative positions. Its
    odometry is synthetic, as the original is not public. The Intel log has 2,672 scans, up to 148 degrees of turn
    apart, with poses of another SLAM system, which are used for comparison only. The two logs of a tracked Rover 5 have
    no reference. Walls are single where their thickness, the standard deviation of points across them, is small.
    KISS-ICP is the peer: odometry from scans, without loop closing. The logs are not part of Sandlot; those that are
    absent are left out.

    Attributes:
        data: Folder with the logs; by default that in the environment variable SANDLOT_DATA.
        logs: Which to map.
        methods: Ways to get poses.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "error": Quantity("m", "mean translational error at the relations; NaN without relations"),
        "turn_error": Quantity("rad", "mean rotational error at the relations"),
        "relations": Quantity("1", "number of relations within the log"),
        "position_error": Quantity("m", "root mean square distance to the poses in the log, aligned"),
        "thickness": Quantity("m", "mean standard deviation of points across walls"),
        "loops": Quantity("1", "loops that were closed"),
        "parts": Quantity("1", "parts of the map that no match connects"),
        "refused": Quantity("1", "share of the scans that were refused"),
        "seconds": Quantity("s", "processor time"),
    }

    data: Path | None = None
    logs: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(distinct)] = get_args(Name)
    methods: Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)] = get_args(Method)

    def file(self, name: str) -> Path:
        """A file of the data, which may not exist, by its path in the folder."""
        return locate_log(Path(name)) if self.data is None else self.data / name

    def present(self) -> tuple[Name, ...]:
        """Names of the logs that exist."""
        return tuple(name for name in self.logs if self.file(FILES[name]).exists())

    def check(self) -> None:
        """Check that there is a log, and that the peer is installed.

        Raises:
            SandlotError: If not.
        """
        if not self.present():
            wanted = ", ".join(FILES[name] for name in self.logs)
            where = self.data or data_folder() or f"{VARIABLE}, which is not set"
            raise SandlotError(f"there is no log in {where}; set data, or {VARIABLE}, to a folder with {wanted}")
        if "kiss-icp" in self.methods and find_spec("kiss_icp") is None:
            raise SandlotError("this needs kiss_icp; install it with: pip install 'sandlot[bench]', or set methods")

    def jobs(self) -> Iterator[Job]:
        """Every method on every log.

        Only the Intel log has poses of another SLAM system. Its odometry repeats them, so it is mapped from scans.
        """
        pairs = [(log, method) for log in self.logs for method in self.methods]
        left_out = {(log, "given") for log in FILES if log != "intel"} | {("intel", "odometry")}
        return self.each({"log": log, "method": method} for log, method in pairs if (log, method) not in left_out)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Map a log; all outcomes are NaN if it is absent."""
        name, method = str(job.parameters["log"]), str(job.parameters["method"])
        if name not in self.present():
            return dict.fromkeys(self.outcomes, math.nan)
        log, mapper = read(self.file(FILES[name])), None
        begun = time.process_time()
        if method == "given":
            poses = np.array([scan.pose for scan in log.scans])
        elif method == "kiss-icp":
            poses = run_kiss_icp(log)
        else:
            mapper = mapped(log, method)
            poses = mapper.trajectory().poses
        seconds = time.process_time() - begun
        points = [scan_points(scan, log.mount, max_range=MAX_RANGE) for scan in log.scans[::2]]
        reference = np.array([scan.pose for scan in log.scans]) if name == "intel" else None
        return {
            **self._relation_errors(name, log, poses),
            "position_error": math.nan if reference is None else position_error(poses, reference),
            "thickness": wall_thickness(points, poses[::2]),
            "loops": math.nan if mapper is None else float(len(mapper.loops.kept)),
            "parts": math.nan if mapper is None else float(mapper.loops.parts(mapper.submaps)),
            "refused": math.nan if mapper is None else len(mapper.refused) / len(log.scans),
            "seconds": seconds,
        }

    def _relation_errors(self, name: str, log: ScanLog, poses: Array) -> dict[str, float]:
        if name != "fr079" or not self.file(RELATIONS).exists():
            return {"error": math.nan, "turn_error": math.nan, "relations": 0.0}
        relations = np.loadtxt(self.file(RELATIONS))
        relations[:, :2] -= log.start
        found = relation_errors(Trajectory(np.array([scan.time for scan in log.scans]), poses), relations)
        return {
            "error": float(found.distances.mean()),
            "turn_error": float(found.turns.mean()),
            "relations": float(len(found.distances)),
        }

    def figure(self, results: xr.Dataset) -> Figure:
        """Left: error on fr079 beside published ones. Right: thickness of the walls of all maps."""
        results = _mapped_jobs(results)
        figure = Figure(figsize=(10.0, 4.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        mine = {
            str(m): float(e) for m, e in zip(*_of(results, "fr079", "method", "error"), strict=True) if m != "kiss-icp"
        }
        bars = {
            **{METHODS[m]: (e, COLOURS[0]) for m, e in mine.items()},
            **{k: (e, "0.6") for k, e in PUBLISHED.items()},
        }
        left.barh(list(bars), [100.0 * e for e, _ in bars.values()], color=[c for _, c in bars.values()])
        left.set(xlabel="mean translational error at the relations of fr079 [cm]")
        names = list(dict.fromkeys(results["log"].values.tolist()))
        for k, method in enumerate(self.methods):
            logs, values = _of(results, None, "log", "thickness", method=method)
            places = [names.index(log) + 0.2 * (k - 1.5) for log in logs]
            right.bar(places, 100.0 * np.asarray(values, np.float64), 0.2, label=METHODS[method], color=COLOURS[k])
        left.invert_yaxis()
        right.set_xticks(range(len(names)), [name.replace("-", "\n") for name in names])
        right.set(ylabel="thickness of walls [cm]")
        figure.legend(*right.get_legend_handles_labels(), loc="outside upper right", ncols=4, frameon=False, fontsize=8)
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Errors, times and walls beside what is published."""
        results = _mapped_jobs(results)
        found: list[Claim] = []
        for method in ("odometry", "scans"):
            mine = pick(results, log="fr079", method=method)
            how = METHODS[method].removeprefix("Mapper, ")
            if mine.sizes["job"] and mine["relations"].item():
                found += self._scores(mine, how)
        for log in dict.fromkeys(results["log"].values.tolist()):
            for method in ("odometry", "scans"):
                mine = pick(results, log=log, method=method)
                if mine.sizes["job"]:
                    found += self._walls(results, mine, log, METHODS[method].removeprefix("Mapper, "))
        return found

    def _scores(self, mine: xr.Dataset, how: str) -> list[Claim]:
        error, seconds = float(mine["error"].item()), float(mine["seconds"].item())
        note = (
            f"{mine['relations'].item():.0f} relations; rotation {math.degrees(mine['turn_error'].item()):.2f} degrees"
        )
        said = [
            Claim(
                f"fr079, {how}: the error is at most that of {name}.",
                f"{PUBLISHED[key]:.4g} m",
                f"{error:.4f} m",
                error <= PUBLISHED[key],
                note,
            )
            for name, key in (("the published corrected poses", "corrected poses"), ("Cartographer", "Cartographer"))
        ]
        text = f"fr079, {how}: 4,791 scans, driven in 1,061 s, are mapped in at most {SECONDS:g} s."
        return [
            *said,
            Claim(text, f"{SECONDS:g} s", f"{seconds:.1f} s", seconds <= SECONDS, "processor time of one core"),
        ]

    def _walls(self, results: xr.Dataset, mine: xr.Dataset, log: str, how: str) -> list[Claim]:
        loops, parts = int(mine["loops"].item()), int(mine["parts"].item())
        found = []
        if log != "rover5-24jul14":  # which drives 2 m there and back
            text = f"{log}, {how}: loops are closed, and the map is one part."
            note = f"{mine['refused'].item():.2%} of the scans refused"
            found.append(Claim(text, "not studied", f"{loops} loops, {parts} part", loops > 0 and parts == 1, note))
        for method in ("kiss-icp", "given"):
            other = pick(results, log=log, method=method)
            if other.sizes["job"]:
                ours, theirs = float(mine["thickness"].item()), float(other["thickness"].item())
                text = f"{log}, {how}: walls are no thicker than by {METHODS[method].removesuffix(', scans alone')}."
                said = f"{1000 * theirs:.1f} mm", f"{1000 * ours:.1f} mm"
                found.append(Claim(text, *said, ours <= theirs, "mean over the map"))
        return found

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The maps from scans alone, made anew; none of a log that no longer exists."""
        for name in self.present():
            mapper = mapped(read(self.file(FILES[name])), "scans")
            caption = f"{name}, from scans alone: occupied, free and unknown cells of 5 cm, and the robot's path."
            yield Picture(caption, draw(mapper))


def _mapped_jobs(results: xr.Dataset) -> xr.Dataset:
    """The results of logs that were present."""
    return results.isel(job=np.isfinite(results["thickness"].values))


def mapped(log: ScanLog, method: str) -> Mapper:
    """A mapper that has all scans of a log."""
    mapper = Mapper(odometry=method == "odometry", mount=log.mount)
    for scan in log.scans:
        mapper.add(scan)
    mapper.finish()
    return mapper


def draw(mapper: Mapper) -> Figure:
    """The map of a mapper, with a scale."""
    grid = OccupancyMap(mapper, margin=0.5).update()
    left, right, low, high = grid.grid.extent
    size = 8.0 / max(right - left, high - low)
    figure = Figure(figsize=(size * (right - left), size * (high - low)), layout="constrained")
    draw_map(
        figure.subplots(), grid.grid, grid.kinds, mapper.trajectory().poses, scale=5.0 if right - left > 20.0 else 1.0
    )
    return figure


def _of(results: xr.Dataset, log: str | None, *names: str, **parameters: str) -> list[list[object]]:
    """Values of these names, of the jobs with these parameters."""
    mine = pick(results, **parameters, **({} if log is None else {"log": log}))
    return [mine[name].values.tolist() for name in names]
