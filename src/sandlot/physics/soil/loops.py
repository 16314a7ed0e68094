"""Steps of soil from within another kernel, for loops in which Python would take too long between steps."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from sandlot.physics.attachment import check_data
from sandlot.physics.mujoco_bridge import Addresses, AppliedForces, Dynamics, Simulation, prepare, without_reset
from sandlot.physics.soil.contacts import Contacts
from sandlot.physics.soil.ground import Ground
from sandlot.physics.soil.soil import Soil


class Stepping(NamedTuple):
    """What a kernel needs to call `sandlot.physics.soil.step.advance`, in the order of its arguments."""

    ground: Ground
    soils: NDArray[np.void]
    contacts: Contacts
    simulation: Simulation
    dynamics: Dynamics
    user: AppliedForces
    addresses: Addresses
    dt: float


@contextmanager
def stepping(soil: Soil, data: mujoco.MjData) -> Iterator[Stepping]:
    """Let a kernel call `advance`; nothing else may step the simulation meanwhile.

    Args:
        soil: Attached ground that does not follow its bodies.
        data: Of the model that it is attached to.

    Raises:
        ModelError: If the soil is not attached to the model of this simulation.
    """
    model = soil._model
    check_data(model, data, "this soil is")
    if soil._prepared is None or soil._prepared.data is not data:
        soil._prepared = prepare(model, data)
    _, simulation, dynamics, addresses = soil._prepared
    data.qfrc_constraint[:] = soil._constraint
    with without_reset(model):
        yield Stepping(
            soil._ground,
            soil._soils,
            soil._contacts,
            simulation,
            dynamics,
            soil._user,
            addresses,
            model.opt.timestep,
        )
    soil._constraint[:] = data.qfrc_constraint
