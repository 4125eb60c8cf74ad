"""Routes of what a team looks at over many runs: approvals, errors, the health of a workflow."""
