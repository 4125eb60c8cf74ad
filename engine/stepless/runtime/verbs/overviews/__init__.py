"""Reads overviews of many runs for a team: open questions, failures in groups, the health of workflows; and the versions of one.
What is read from the headers of runs stops after MAX_SEARCHED_RUNS of them, or fewer, and then says that there may be more."""
