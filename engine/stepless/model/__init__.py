"""The nouns of the engine: the document, what is found wrong with it, the compiled graph, kinds, JSON values.

Nothing here decides or does anything. `document` is the only pydantic model tree; what runs is frozen dataclasses.
"""
