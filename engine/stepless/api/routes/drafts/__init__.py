"""Serves the routes for drafts: `editing` opens, reads and edits them, `texts` and `versions` have their text, their history and
what is published of them."""
