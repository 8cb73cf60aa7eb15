"""Findings: how they come to be, how they are assessed, and what a run may claim about them."""
