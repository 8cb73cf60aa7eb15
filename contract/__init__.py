"""The agreement between who writes evidence and who believes it: formats, digests, scoring."""
