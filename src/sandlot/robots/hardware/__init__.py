"""The electronics of the source's rover: motors, encoders, analog monitor, batteries and power switches."""
