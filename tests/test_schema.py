"""What a type allows is said in words that can be read."""

from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, create_model

from sandlot.schema import allowed

Share = Annotated[float, Field(gt=0.0, le=1.0)]
Count = Annotated[int, Field(ge=8, le=1_000_000)]


class Table(BaseModel):
    size: int = 1


class Round(BaseModel):
    form: Literal["round"] = "round"


class Square(BaseModel):
    form: Literal["square"] = "square"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Share, "a number above 0 and at most 1"),
        (Count, "a whole number at least 8 and at most 1000000"),
        (Path, "a path"),
        (Table, "a table"),
        (Table | None, "a table or nothing"),
        (Annotated[Round | Square, Field(discriminator="form")], "a table whose form is one of round, square"),
        (bool | None, "true or false, or nothing"),
        (float | tuple[float, ...], "a number or a list of numbers"),
        (Literal["hills", "heap"] | Path, "one of hills, heap, or a path"),
        (tuple[Count, Count] | None, "a list of 2 whole numbers, each at least 8 and at most 1000000, or nothing"),
        (tuple[tuple[float, float, float], ...], "a list of lists of 3 numbers"),
        (tuple[tuple[Share, ...], ...] | None, "a list of lists of numbers, each above 0 and at most 1, or nothing"),
        (Annotated[tuple[str, ...], Field(min_length=1)], "a list of one or more texts"),
        (Annotated[tuple[Table, ...], Field(min_length=2)], "a list of at least 2 tables"),
        (tuple[Literal["soft", "mid"], ...], "a list of any of soft, mid"),
        (Annotated[tuple[Literal["soft", "mid"], ...], Field(min_length=1)], "a list of one or more of soft, mid"),
        (tuple[bool, ...], "a list of values, each true or false"),
        (tuple[int | str, ...], "a list of values, each a whole number or text"),
        (tuple[str, float], "a list of: text, a number"),
        (list, "a list of values"),
    ],
)
def test_what_a_type_allows(kind, words):
    schema = create_model("Model", field=(kind, ...)).model_json_schema()
    assert allowed(schema["properties"]["field"], schema) == words
