"""Who may do what: API keys and their roles, signed links and the keys that sign them, and how people are told of a link."""
