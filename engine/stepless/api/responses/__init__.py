"""Defines the shapes of responses, as typed dictionaries from which /openapi.json is generated."""
