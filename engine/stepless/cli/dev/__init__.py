"""Implements `stepless dev`: the web server, the folder that it publishes, the modules that it reloads, and the lines that it
prints."""
