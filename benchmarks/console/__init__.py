"""Figures of the console: two real browsers and wire clients against `stepless dev`, as a table in build/console-figures.md."""
