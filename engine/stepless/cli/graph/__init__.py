"""Drawings of a workflow: its layout, and the text, Mermaid, DOT and SVG made from it."""
