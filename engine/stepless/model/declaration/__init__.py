"""The workflow document, declared once: `document` and `policies` name every field with its type, default and meaning. The rest
is built from them: `validation` the pydantic models and the JSON Schema, `written` the views that a runner reads.
"""
