"""Serves the routes, one module per subject; `api/app.py` adds them to the app."""
