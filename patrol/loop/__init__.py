"""The Patrol loop: what is decided before, around and after a model's turns."""
