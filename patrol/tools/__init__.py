"""The tools that a model is offered, and the one place where they are executed."""
