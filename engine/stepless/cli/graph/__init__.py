"""Drawings of a workflow: the layout, and its output as Mermaid, DOT and SVG."""
