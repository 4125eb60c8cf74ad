"""The verbs of drafts: `verbs` opens and edits them; `texts` is the author's text, `comparing` what differs, `history` who did
what, `publishing` makes a version of a draft, `incoming` brings in what was changed elsewhere, `files` saves to the file,
`running` runs it, `effects` what such a run may call. """

from stepless.runtime.verbs.drafts.verbs import DraftVerbs, Files, Shown

__all__ = ["DraftVerbs", "Files", "Shown"]
