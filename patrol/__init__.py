"""The reference Patrol runtime: stands in where no Pulse server is at hand."""
