"""Rewrites forms of Python before anything else reads the source, so that what they mean is said with what the compiler knows."""
