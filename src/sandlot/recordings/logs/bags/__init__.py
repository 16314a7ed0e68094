"""Bags of ROS 1 and ROS 2, and MCAP files.

`files` finds the container of a bag and yields its messages in file order; `survey` goes through them once for poses
and the laser's layout; `reader` goes through them again and yields scans by log time.
"""
