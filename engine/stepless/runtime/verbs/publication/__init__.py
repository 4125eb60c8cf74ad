"""Publishes documents as versions, with the warnings that only the environment can cause."""
