"""Read-only investigation of one finding, ending in a diagnosis and at most one typed proposal."""
