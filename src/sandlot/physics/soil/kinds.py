"""Kinds of soil: their parameters, and presets."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from sandlot.kernels import kernel
from sandlot.settings import Settings
from sandlot.typing import Array

POWER_STEP = 1e-4
"""Distance of the depths at which powers are tabulated [m]. Taking powers would take longer than all the rest."""
POWERS = 4000
"""Number of tabulated depths; deeper ones are extrapolated."""


class SoilParameters(NamedTuple):
    """Parameters of a soil, for kernels.

    Attributes:
        kphi: Bekker's frictional modulus [Pa/m^n].
        kc: Bekker's cohesive modulus [Pa/m^(n-1)].
        cohesion: [Pa]
        friction: Tangent of the angle of internal friction.
        shear: Janosi and Hanamoto's shear displacement [m].
        elastic: Elastic stiffness [Pa/m].
        damping: [Pa*s/m]
        repose: Tangent of the angle of repose.
        exponent: Bekker's n.
        firm_layer: Depth of a layer that never yields [m].
        powers: (POWERS,) depth to the power of Bekker's n, at depths 0, POWER_STEP, 2 POWER_STEP and so on [m^n].
    """

    kphi: float
    kc: float
    cohesion: float
    friction: float
    shear: float
    elastic: float
    damping: float
    repose: float
    exponent: float
    firm_layer: float
    powers: Array


SOIL = np.dtype([(name, np.float64, POWERS if name == "powers" else ()) for name in SoilParameters._fields])
"""The same as a record. Kernels take an array of these, so that they are compiled once for any number of kinds."""


class SoilKind(Settings):
    """What ground is made of.

    Attributes:
        kphi: Bekker's frictional modulus [Pa/m^n]; infinite for ground that never yields.
        kc: Bekker's cohesive modulus [Pa/m^(n-1)].
        exponent: Bekker's n.
        cohesion: [Pa]
        friction: Angle of internal friction [deg].
        shear: Janosi and Hanamoto's shear displacement K [m].
        elastic: Elastic stiffness [Pa/m].
        damping: [Pa*s/m]
        repose: Angle of repose [deg]: steeper slopes slide. The angle of friction if not given.
        firm_layer: Depth of a layer below the undeformed surface that never yields [m]; infinite for none.
    """

    kphi: float = Field(gt=0.0, allow_inf_nan=True)
    kc: float = Field(0.0, ge=0.0)
    exponent: float = Field(1.0, gt=0.0)
    cohesion: float = Field(0.0, ge=0.0)
    friction: float = Field(gt=0.0, lt=90.0)
    shear: float = Field(gt=0.0)
    elastic: float = Field(gt=0.0)
    damping: float = Field(0.0, ge=0.0)
    repose: float | None = Field(None, gt=0.0, lt=90.0)
    firm_layer: float = Field(np.inf, gt=0.0, allow_inf_nan=True)

    @field_validator("kphi", "firm_layer", mode="before")
    @classmethod
    def _infinite(cls, value: Any) -> Any:
        return np.inf if value is None else value  # the settings of a recording are JSON, which has no infinity

    def parameters(self) -> SoilParameters:
        """The same, for kernels."""
        angles = (self.friction, self.friction if self.repose is None else self.repose)
        friction, repose = np.tan(np.radians(angles)).tolist()
        return SoilParameters(
            kphi=self.kphi,
            kc=self.kc,
            cohesion=self.cohesion,
            friction=friction,
            shear=self.shear,
            elastic=self.elastic,
            damping=self.damping,
            repose=repose,
            exponent=self.exponent,
            firm_layer=self.firm_layer,
            powers=np.power(POWER_STEP * np.arange(POWERS, dtype=np.float64), self.exponent, dtype=np.float64),
        )


def soil_records(kinds: Sequence[SoilKind]) -> NDArray[np.void]:
    """The parameters of several kinds: (kinds,) of SOIL."""
    return np.array([tuple(kind.parameters()) for kind in kinds], SOIL)


@kernel(error_model="numpy", allocates=False)
def soil_of(soils: NDArray[np.void], kind: int) -> SoilParameters:
    """The parameters of one of several kinds, (kinds,) of SOIL, by its number."""
    soil = soils[kind]
    return SoilParameters(
        soil["kphi"],
        soil["kc"],
        soil["cohesion"],
        soil["friction"],
        soil["shear"],
        soil["elastic"],
        soil["damping"],
        soil["repose"],
        soil["exponent"],
        soil["firm_layer"],
        soil["powers"],
    )


PRESETS = {
    "soft": SoilKind(kphi=2e5, exponent=1.1, friction=30.0, shear=0.01, elastic=4e7, damping=3e4),
    "mid": SoilKind(kphi=2e6, exponent=1.1, friction=30.0, shear=0.01, elastic=2e8, damping=3e4),
    "LETE sand": SoilKind(
        kphi=5.301e6, kc=1.02e5, exponent=0.793, cohesion=1300.0, friction=31.1, shear=0.012, elastic=4e8, damping=3e4
    ),
    "rigid": SoilKind(kphi=np.inf, friction=38.7, shear=1e-3, elastic=1e10, damping=3e4, repose=89.9),
}
"""Soft and mid are the soils of Project Chrono's demonstrations; LETE sand is that of Wong, Theory of Ground Vehicles
(2008), table 2.3. Rigid ground never yields, and has a coefficient of friction of 0.8."""
