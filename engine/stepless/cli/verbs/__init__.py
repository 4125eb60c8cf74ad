"""The verbs, one module per group: what each requests from a file, a folder or a server, and what it prints."""
