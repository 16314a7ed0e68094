"""The studies of learned simulation, beginning with the two versions of their source."""

# isort: off
from sandlot.studies.learned import v1, v2, terrain_net, preprocessing, rover, soil, standins
# isort: on

__all__ = ["preprocessing", "rover", "soil", "standins", "terrain_net", "v1", "v2"]
