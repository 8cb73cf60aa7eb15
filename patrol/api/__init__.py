"""The HTTP face of the runtime: the endpoints of the Pulse API that a client of Patrol uses."""
