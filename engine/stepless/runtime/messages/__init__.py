"""Finds runs by the keys that their business knows: `keys` which run has a key, `starts` starts under a key, `routes` which runs
wait under a further key, `kept` messages for runs that are not there yet. `verbs/changes/sending.py` delivers messages."""
