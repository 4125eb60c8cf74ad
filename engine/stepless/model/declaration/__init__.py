"""Declares the workflow document once: `document` and `policies` name every field with its type, default and meaning. From them,
`validation` builds the pydantic models and the JSON Schema; `written` has the views that a runner reads.
"""
