"""Breaks real containers in a disposable lab, confirms each fault, drives Patrol and writes evidence."""
