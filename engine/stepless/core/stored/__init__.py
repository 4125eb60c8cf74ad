"""Encodes events and states as bytes, in formats that every later release can read."""
