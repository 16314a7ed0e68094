"""Streams of bytes of an emulated lidar in a rectangular room, for the tests of its driver."""

from itertools import pairwise

import numpy as np

from sandlot.sensing.rplidar import Receiver, Samples
from sandlot.sensing.rplidar.device import KINDS, Device
from sandlot.sensing.rplidar.samples import join

PLACE, WALLS = (0.5, 0.3), (2.0, 1.5)
MODES = {mode.name: ("A1", mode) for mode in KINDS["A1"].modes[:3]} | {"Dense": ("S2", KINDS["S2"].modes[1])}


def room(bearings, times):
    """Ranges in a room of 4 x 3 m."""
    towards = np.cos(bearings), np.sin(bearings)
    with np.errstate(divide="ignore"):
        each = [np.where(d > 0, w - p, w + p) / abs(d) for d, w, p in zip(towards, WALLS, PLACE, strict=True)]
    return np.minimum(*each)


def patchy(bearings, times):
    """The same room; every third direction of 10 degrees returns nothing."""
    return np.where(np.floor(np.degrees(bearings) / 10.0) % 3 == 0, np.nan, room(bearings, times))


def stream(name, seconds=1.0, view=room, descriptor=True):
    """Bytes of a scan in a mode of `MODES`; returns them and the bytes of a turn."""
    kind, mode = MODES[name]
    device = Device(view, KINDS[kind])
    device.receive(mode.request(), 0.0)
    data = device.poll(seconds)
    return (data if descriptor else data[7:]), round(len(data) / (seconds * KINDS[kind].turns))


def receive(data, cuts=(), baud=None, times=None):
    """All events of bytes that arrive in pieces, with neighbouring samples joined, and the receiver."""
    receiver, events = Receiver(baud), []
    edges = [0, *sorted(cuts), len(data)]
    for begin, end in pairwise(edges):
        time = 0.0 if times is None else times(end)
        for event in receiver.receive(data[begin:end], time):
            if isinstance(event, Samples) and events and isinstance(events[-1], Samples):
                events[-1] = join([events[-1], event])
            else:
                events.append(event)
    return events, receiver


def samples_of(data, **options):
    """All samples of a stream."""
    return join([event for event in receive(data, **options)[0] if isinstance(event, Samples)])


def same_samples(first, second, times=False):
    """Whether samples are equal, bit for bit."""
    names = ("angles", "distances", "qualities", "starts", "gaps", *(["times"] if times else []))
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)
