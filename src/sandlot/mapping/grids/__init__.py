"""Grid maps of walls, obstacles, free and unknown cells, built from scans; read and written as ROS maps."""
