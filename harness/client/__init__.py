"""The Pulse client: HTTP to a Pulse server or to the reference runtime, and nothing about the lab."""
