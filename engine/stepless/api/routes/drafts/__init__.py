"""Serves the routes for drafts: `editing` opens, reads and edits them, `texts` has their text, history and publication, `running`
their test runs, `evaluating` previews of expressions, and `sessions` who edits one at once."""
