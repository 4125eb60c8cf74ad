"""Implements what a caller may request of drafts.

`verbs` opens and edits them, `texts` is the author's text, `diff` compares, `history` says who did what, `publishing` makes a
version of a draft, `merging` brings in what was changed elsewhere, `files` saves to the file, `runs` runs it, `run_permissions`
says what such a run may call. The package imports nothing itself: the sweeper loads `sweeping` each minute, the rest once an
hour.
"""
