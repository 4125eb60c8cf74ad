"""Describes the table: its keys and indexes, the items in it, and the requests by which they are read and written."""
