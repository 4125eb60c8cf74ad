"""Examples for /openapi.json: every request and every response has one."""
