"""Serves the overviews of many runs for a team: approvals, errors, the health of a workflow."""
