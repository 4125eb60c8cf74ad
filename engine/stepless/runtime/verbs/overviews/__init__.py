"""What a team looks at over many runs: open questions, failures in groups, the health of a workflow. Each is read from the
headers of runs, stops after MAX_SEARCHED_RUNS of them, and then says that there may be more."""
