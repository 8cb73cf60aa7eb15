"""The real state of a Docker engine, named explicitly, as resources that may be shown to a model."""
