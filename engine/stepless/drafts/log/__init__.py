"""Keeps drafts that several people edit at once as logs: any process may append, and the log decides.

`draft_logs` has the operations, `sequencing` decides requests, `opening` makes the state of a draft from what is stored,
`checkpoints` keeps that cheap, `heads` opens, replaces and discards drafts. What an effect does and which ones follow from a
request is not known there: `editing` names what these modules need of it, and `rules_adapter` has it from
`stepless.drafts.rules`. """
