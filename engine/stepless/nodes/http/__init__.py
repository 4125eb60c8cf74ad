"""Defines the kind `http`, which sends an HTTP request."""

from stepless.nodes.http.client import close
from stepless.nodes.http.kind import KIND, run

__all__ = ["KIND", "close", "run"]
