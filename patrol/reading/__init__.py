"""Looking into a container without any way to change it."""
