"""The reference Patrol runtime: stands in where no Pulse server is at hand.

It watches real containers through the same HTTP contract as Pulse, so that the whole way from a broken
container to a published row can be walked without one. It is a stand-in and never a claim about Pulse.
"""

VERSION = "0.1.0"
PRODUCT = f"reference-patrol/{VERSION}"
