"""Events and states as bytes, in formats that every later release reads."""
