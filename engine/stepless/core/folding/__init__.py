"""Changes states: what follows from single types of events, called by `fold`."""
