"""The disposable Docker laboratory: containers that are broken on purpose, and the oracle that knows it."""
