"""What can be set in any world.

Importing it is quick, so that mistakes in settings are found before a world and its physics are imported.
"""

from typing import Any, Literal, Self

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from sandlot.settings import Settings


class WorldSettings(Settings):
    """What can be set in any world. A world narrows ``fidelity`` to those it offers.

    A setting that only one fidelity uses says so: ``Field(..., json_schema_extra={"fidelity": "learned"})``.

    Attributes:
        fidelity: Which physics the world runs on.
        interface: ``units``, observations and actions in SI units; ``normalised``, for learners: one row of float32
            each, actions in [-1, 1]. ``gymnasium.make`` and ``make_vec`` give ``normalised`` if it is left out.
    """

    fidelity: str
    interface: Literal["units", "normalised"] = "units"

    @model_serializer(mode="wrap")
    def _interface_of_learners(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out the usual interface: kept settings, of recordings and of studies, are older than this field."""
        values: dict[str, Any] = dump(self)
        if values.get("interface") == "units":
            del values["interface"]
        return values

    @model_validator(mode="after")
    def _fidelity_uses_all(self) -> Self:
        for name, only in self.of_one_fidelity().items():
            value = getattr(self, name)
            # The settings of a recording hold every default, and make the same world again.
            if self.fidelity != only and value is not None and value != type(self).model_fields[name].default:
                raise ValueError(f"{name}={value} is only for fidelity={only}, not {self.fidelity}; leave it out")
        return self

    @classmethod
    def of_one_fidelity(cls) -> dict[str, str]:
        """Settings that only one fidelity uses, and which."""
        extras = {name: field.json_schema_extra for name, field in cls.model_fields.items()}
        about = {name: extra for name, extra in extras.items() if isinstance(extra, dict)}
        return {name: str(extra["fidelity"]) for name, extra in about.items() if "fidelity" in extra}
