"""`http`: sends an HTTP request."""

from stepless.nodes.http.kind import KIND, run
from stepless.nodes.http.session import close

__all__ = ["KIND", "close", "run"]
