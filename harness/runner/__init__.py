"""The phases of one run: from a manifest to a report, with cleanup and report always."""
