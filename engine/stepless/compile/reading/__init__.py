"""Reads documents from YAML and JSON strictly, with the line of every fault, and writes YAML."""
