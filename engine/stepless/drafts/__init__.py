"""Drafts: workflows that several people edit at once, before they publish them.

`rules` says what an edit means, `log` commits edits, `operations` implements what a caller may request, `sessions` connects the
people who edit one draft, and `wiring` chooses their adapters on AWS. Only front doors import this package: nothing that
executes a run depends on it.
"""
