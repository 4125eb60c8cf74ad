"""The composition root of the drafts: chooses the adapters behind the sockets of the console."""
