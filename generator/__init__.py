"""Reads evidence, believes nothing that it has not verified, and renders the leaderboards."""
