"""Serves draft sessions in this process: committed entries are passed on, over WebSockets and to callers that wait."""
