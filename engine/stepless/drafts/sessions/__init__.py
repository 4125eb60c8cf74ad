"""Connects the people who edit one draft at once: messages, admission, and the server for sockets that a gateway holds. Loads no
web framework."""
