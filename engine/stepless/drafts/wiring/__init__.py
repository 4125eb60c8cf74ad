"""Chooses the adapters behind the sockets of the console."""
