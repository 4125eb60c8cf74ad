"""Finds what is known of names before the statements are read: where they are bound, what they share; and what is known of
types."""
