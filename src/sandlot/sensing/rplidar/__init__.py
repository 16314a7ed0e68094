"""Driver of RPLIDAR laser scanners by Slamtec: bytes in, events out, with shells for serial ports, TCP and asyncio.

`Receiver` decodes a stream of bytes, `Turns` makes whole turns of its samples, and `open_lidar` drives a device.
"""

from sandlot.sensing.rplidar.answers import Health, Info, SampleRate, Status
from sandlot.sensing.rplidar.driver import Lidar, open_lidar
from sandlot.sensing.rplidar.modes import ScanMode
from sandlot.sensing.rplidar.receiver import Losses, Receiver, Restarted, ScanBegun
from sandlot.sensing.rplidar.samples import Samples
from sandlot.sensing.rplidar.turns import Turn, Turns

__all__ = [
    "Health",
    "Info",
    "Lidar",
    "Losses",
    "Receiver",
    "Restarted",
    "SampleRate",
    "Samples",
    "ScanBegun",
    "ScanMode",
    "Status",
    "Turn",
    "Turns",
    "open_lidar",
]
