"""Drafts that several people edit at once: any process may sequence what they do, and the log of the draft decides.

`drafting` has the verbs, `sequencing` commits requests, `opening` makes the state of a draft from what is stored, `checkpoints`
keeps that cheap, `heads` opens, replaces and discards drafts. What an effect does and which ones follow from a request is not
known there: `editing` names what these modules need of it, and `rules` has it from `stepless.drafts.rules`.
"""
