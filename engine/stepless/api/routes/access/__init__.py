"""Serves the routes about callers: who may call, who calls now, and what callers changed."""
