"""The routes, one module for each subject; `api/app.py` adds them to the application."""
