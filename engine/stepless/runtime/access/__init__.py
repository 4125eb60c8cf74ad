"""Controls access: API keys and their roles, signed links and the keys that sign them, and the notices that deliver links."""
