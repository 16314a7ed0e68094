"""Every reader takes mutated inputs well: fine or one line, no other exception, no hang, bounded memory.

The short test has the same inputs every time. The long one (`make test-all`) goes on with new ones for as many seconds
per reader as ``SANDLOT_FUZZ_SECONDS`` says. A failure names the number of its input, and ``SANDLOT_FUZZ_FIRST`` starts
with that number. ``python -m fuzz MINUTES`` in ``tests`` runs all readers in turn and prints totals.
"""

import os
import random
import shutil
import time

import pytest

from fuzz.checks import check
from fuzz.mutations import mutate
from fuzz.readers import READERS
from fuzz.samples import Sample
from sandlot.recordings.logs import FORMATS


@pytest.fixture
def sample(request, tmp_path):
    made = Sample(request.param, tmp_path)
    yield made
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("sample", READERS, indirect=True)
def test_mutated_inputs(sample):
    for number in range(sample.reader.inputs):
        sample.fuzz(number)


@pytest.mark.slow
@pytest.mark.parametrize("sample", READERS, indirect=True)
def test_many_mutated_inputs(sample):
    number = int(os.environ.get("SANDLOT_FUZZ_FIRST") or 1000 * int(time.time()))
    end = time.monotonic() + float(os.environ.get("SANDLOT_FUZZ_SECONDS") or 20.0)
    while time.monotonic() < end:
        sample.fuzz(number)
        number += 1


def test_every_log_format_is_fuzzed():
    assert all(any(name.startswith(f"log, {format_}") for name in READERS) for format_ in FORMATS)


def test_the_same_number_gives_the_same_input():
    data = b"a = [1, 2.5]\n" * 20
    one, other = (mutate(data, data, random.Random("a 1")) for _ in range(2))
    assert one == other != data


def test_what_the_checks_refuse():
    def fail():
        raise ValueError("bad")

    with pytest.raises(AssertionError, match="ValueError: bad"):
        check(fail)
    with pytest.raises(AssertionError, match="bytes of memory"):
        check(lambda: bytearray(b"x" * 600_000_000))
