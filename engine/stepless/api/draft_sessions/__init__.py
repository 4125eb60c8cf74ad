"""Who is in which draft in this process: committed items are passed on, over WebSockets and to callers that wait."""
