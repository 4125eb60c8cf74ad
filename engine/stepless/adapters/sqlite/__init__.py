"""Implements the store and the blobs in one SQLite file, for one machine."""
