"""Every mistake in a setting is one line that names the key and says what is allowed."""

from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, field_validator

from sandlot.errors import SandlotError, SettingError
from sandlot.settings import MAX_NUMBER, Setting, Settings, build, describe, flatten, read_settings


class Place(Settings):
    agents: int = Field(8, ge=1)
    shape: tuple[int, int] = (32, 32)
    flatness: Literal["range", "gradient"] = "range"
    fidelity: Literal["fast"] = "fast"


class Rock(Settings):
    """A rock.

    Attributes:
        mass: Of it
            all [kg].
    """

    mass: float = Field(gt=0.0)
    note: str | None = None


class Plan(Settings):
    """A plan.

    Attributes:
        world: A table.
        replicates: How many
            there are.
        share: Of ``all``: some.

    Examples:
        note: not about it
    """

    world: Place = Place()
    replicates: int = Field(30, ge=1)
    share: float = Field(0.5, gt=0.0, lt=1.0)
    shares: tuple[float, ...] = (0.1, 0.2)
    counts: tuple[int, ...] = Field((1, 2, 3), min_length=3)
    note: str = ""
    size: int | None = None
    even: int = 2
    poses: tuple[tuple[float, float, float], ...] | None = None
    rock: Rock | str = "pebble"

    @field_validator("even")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("only even numbers will do")
        return value


def complaint(values: dict) -> str:
    with pytest.raises(SandlotError) as caught:
        build(Plan, values)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message


def test_builds_what_is_right():
    plan = build(Plan, {"replicates": 3, "world": {"agents": 2, "shape": [4, 5]}, "shares": [0.3]})
    assert plan == Plan(replicates=3, world=Place(agents=2, shape=(4, 5)), shares=(0.3,))
    assert build(Plan, {}) == Plan()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"replicats": 3}, ["'replicats'", "did you mean 'replicates'?"]),
        ({"world": {"agnets": 3}}, ["'world.agnets'", "agents'?"]),
        ({"zzz": 3}, ["'zzz'", "known: ", "replicates", "shares", "world"]),
        ({"world": {"zzz": 3}}, ["'world.zzz'", "known: ", "agents", "shape"]),
    ],
)
def test_an_unknown_key_gets_a_suggestion(values, words):
    message = complaint(values)
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("values", "start", "allowed"),
    [
        ({"replicates": "many"}, "replicates=many ", "a whole number at least 1"),
        ({"replicates": 1.5}, "replicates=1.5 ", "a whole number at least 1"),
        ({"replicates": [3]}, "replicates=[3] ", "a whole number at least 1"),
        ({"replicates": -1}, "replicates=-1 ", "a whole number at least 1"),
        ({"share": 0}, "share=0 ", "a number above 0 and below 1"),
        ({"share": 1.0}, "share=1.0 ", "a number above 0 and below 1"),
        ({"share": float("nan")}, "share=nan ", "a number above 0 and below 1"),
        ({"share": float("inf")}, "share=inf ", "a number above 0 and below 1"),
        ({"note": 3}, "note=3 ", "text"),
        ({"size": "big"}, "size=big ", "a whole number or nothing"),
        ({"world": 3}, "world=3 ", "a table"),
        ({"world": {"agents": 0}}, "world.agents=0 ", "a whole number at least 1"),
        ({"world": {"flatness": "steep"}}, "world.flatness=steep ", "one of range, gradient"),
        ({"world": {"fidelity": "slow"}}, "world.fidelity=slow ", "only fast"),
        ({"shares": 0.3}, "shares=0.3 ", "a list of numbers"),
        ({"counts": [1, 2]}, "counts=[1, 2] ", "a list of at least 3 whole numbers"),
    ],
)
def test_an_impossible_value_says_what_is_allowed(values, start, allowed):
    message = complaint(values)
    assert message.startswith(start)
    assert message.endswith(f"allowed: {allowed}")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"shares": [0.1, "x"]}, "shares[1]=x is not possible; allowed: a number"),
        ({"world": {"shape": [16, "y"]}}, "world.shape[1]=y is not possible; allowed: a whole number"),
        ({"poses": [[0, 0, 0], [0, 0, "z"]]}, "poses[1][2]=z is not possible; allowed: a number"),
        ({"poses": [[0, 0]]}, "poses[0]=[0, 0] is not possible; allowed: a list of 3 numbers"),
        ({"poses": 3}, "poses=3 is not possible; allowed: a list of lists of 3 numbers, or nothing"),
    ],
)
def test_a_wrong_element_of_a_list_is_shown_with_its_place(values, message):
    assert complaint(values) == message


@pytest.mark.parametrize("shape", [[16], [16, 16, 16]])
def test_a_list_of_the_wrong_length_names_its_key(shape):
    message = complaint({"world": {"shape": shape}})
    assert message.startswith("world.shape")
    assert message.endswith("allowed: a list of 2 whole numbers")


def test_a_rule_of_the_model_speaks_for_itself():
    assert complaint({"even": 3}) == "even=3: only even numbers will do"


def test_a_validator_that_looks_for_an_impossible_path_gets_one_line():
    class Files(Settings):
        path: Path

        @field_validator("path")
        @classmethod
        def _exists(cls, path: Path) -> Path:
            if not path.exists():
                raise ValueError("there is no such file")
            return path

    with pytest.raises(SettingError, match="a path among the settings cannot be used: File name too long"):
        build(Files, {"path": 5000 * "a"})


def test_a_message_quotes_at_most_80_characters():
    for values in ({"replicates": 5000 * "a"}, {5000 * "a": 1}, {"world": {5000 * "b": 1}}, {"even": 10**9000 + 1}):
        assert len(complaint(values)) < 300


@pytest.mark.parametrize("assignment", [5000 * "a", 5000 * "a." + "b=1", "a=" + 5000 * "[", "a." + 5000 * "b" + "=1"])
def test_an_absurd_assignment_gets_one_short_line_or_is_text(assignment):
    message = ""
    try:
        read_settings(None, [assignment])
    except SettingError as error:
        message = str(error)
    assert len(message) < 300


def test_a_value_of_several_lines_still_gives_one_line():
    assert complaint({"replicates": "one\ntwo"}).startswith("replicates=one")


@pytest.mark.parametrize(
    ("values", "key"),
    [({"shares": (0.1, -2e12)}, "shares=-2e+12"), ({"poses": ((0.0, 1e300, 0.0),)}, "poses=1e+300")],
)
def test_a_number_that_is_absurdly_large_says_what_is_allowed(values, key):
    assert complaint(values) == f"{key} is not possible; allowed: a magnitude of at most 1e+12"
    assert "rock: mass=1e+13 is not possible" in complaint({"rock": {"mass": 1e13}})


def test_settings_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        Plan().replicates = 4


@given(st.dictionaries(st.sampled_from(["replicates", "share", "world", "note", "nonsense"]), st.text(), min_size=1))
def test_whatever_is_written_is_right_or_gets_one_line(values):
    message = ""
    try:
        build(Plan, values)
    except SandlotError as error:
        message = str(error)
    assert len(message.splitlines()) <= 1


def test_assignments_win_over_the_file(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("replicates = 3\nnote = 'kept'\n[world]\nagents = 4\nflatness = 'gradient'\n")
    read = read_settings(file, ["replicates=5", "world.agents=6", "share=0.25"])
    assert read == {
        "replicates": 5,
        "note": "kept",
        "share": 0.25,
        "world": {"agents": 6, "flatness": "gradient"},
    }


def test_the_last_of_two_assignments_wins():
    assert read_settings(None, ["replicates=5", "replicates=6"]) == {"replicates": 6}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-0.5", -0.5),
        ("true", True),
        ("[16, 8]", [16, 8]),
        ("range", "range"),
        ('"in quotes"', "in quotes"),
        ("a=b", "a=b"),
        ("pictures/it's.png", "pictures/it's.png"),
        ("", ""),
    ],
)
def test_a_value_is_toml_or_else_text(text, value):
    assert read_settings(None, [f"key={text}"]) == {"key": value}


def test_spaces_around_an_assignment_do_not_matter():
    assert read_settings(None, [" world.agents = 3 "]) == {"world": {"agents": 3}}


def said(*arguments) -> str:
    with pytest.raises(SandlotError) as caught:
        read_settings(*arguments)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.mark.parametrize("assignment", ["replicates", "=3", " =3", ""])
def test_an_assignment_needs_a_key_and_a_value(assignment):
    message = said(None, [assignment])
    assert assignment in message
    assert "key=value" in message


def test_a_value_has_no_keys_of_its_own():
    assert "'world' is a value, not a table" in said(None, ["world=3", "world.agents=4"])


def test_a_missing_file_is_named(tmp_path):
    assert str(tmp_path / "none.toml") in said(tmp_path / "none.toml")
    assert str(tmp_path) in said(tmp_path)


@pytest.mark.parametrize("content", [b"replicates = \n", b"[world\n", b"note = '\xff'\n"])
def test_a_broken_file_is_named(tmp_path, content):
    file = tmp_path / "broken.toml"
    file.write_bytes(content)
    assert f"{file} is not TOML" in said(file)


@given(
    st.builds(
        Plan,
        world=st.builds(Place, agents=st.integers(1), shape=st.tuples(st.integers(), st.integers())),
        share=st.floats(0.0, 1.0, exclude_min=True, exclude_max=True),
        shares=st.lists(st.floats(-MAX_NUMBER, MAX_NUMBER)).map(tuple),
    )
)
def test_flat_settings_can_be_assigned_again(plan):
    flat = flatten(plan.model_dump(mode="json", exclude_none=True))
    assert flat["world.agents"] == str(plan.world.agents)
    assert build(Plan, read_settings(None, [f"{key}={value}" for key, value in flat.items()])) == plan


def test_every_setting_is_described_and_tables_come_last():
    found = {each.key: each for each in describe(Plan)}
    assert [key for key in found if "." not in key] == [key for key in Plan.model_fields if key != "world"]
    assert list(found)[-6:] == [
        "world.agents",
        "world.shape",
        "world.flatness",
        "world.fidelity",
        "rock.mass",
        "rock.note",
    ]
    assert found["replicates"] == Setting("replicates", "a whole number at least 1", "30", "How many there are.")
    assert found["share"].meaning == "Of ``all``: some."
    assert found["note"].meaning == ""
    assert found["size"].default == "nothing"
    assert found["rock"] == Setting("rock", "a table or text", '"pebble"', "")
    assert found["rock.mass"] == Setting("rock.mass", "a number above 0", "needed", "Of it all [kg].")


def test_the_defaults_of_a_table_are_those_it_is_given():
    class Outer(Settings):
        world: Place = Place(agents=3)

    assert describe(Outer)[0].default == "3"


@pytest.mark.parametrize("model", [Plan, Place])
def test_what_is_described_can_be_set(model):
    values = [f"{each.key}={each.default}" for each in describe(model) if each.default not in ("nothing", "needed")]
    values = [value for value in values if not value.startswith("rock.")]
    assert build(model, read_settings(None, values)) == model()


class Disc(Settings):
    """Round.

    Attributes:
        radius: [m]
    """

    form: Literal["disc"] = "disc"
    radius: float = Field(1.0, gt=0.0)


class Block(Settings):
    """Not round.

    Attributes:
        width: [m]
    """

    form: Literal["block"] = "block"
    width: float = 2.0


class Toy(Settings):
    """Of one of two forms.

    Attributes:
        shape: Its form.
    """

    shape: Annotated[Disc | Block, Field(discriminator="form")] = Disc()


def test_a_table_of_several_kinds_is_described_kind_by_kind():
    found = [(each.key, each.meaning) for each in describe(Toy)]
    assert found == [("shape", "Its form."), ("shape.radius", "disc: [m]"), ("shape.width", "block: [m]")]


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"form": "disc", "radius": 0.0}, "shape.radius=0.0 is not possible; allowed: a number above 0"),
        ({"form": "block", "radius": 1.0}, "no setting 'shape.radius'"),
        ({"form": "cone"}, "allowed: a table whose form is one of block, disc"),
        ({"radius": 1.0}, "allowed: a table whose form is one of block, disc"),
    ],
)
def test_mistakes_in_a_table_of_several_kinds_are_explained(shape, said):
    with pytest.raises(SettingError, match=said):
        build(Toy, {"shape": shape})
