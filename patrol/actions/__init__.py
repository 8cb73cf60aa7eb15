"""Governed actions: planned, approved, executed once, verified on a path of its own, and audited."""
