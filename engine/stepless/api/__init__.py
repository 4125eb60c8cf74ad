"""Serves the HTTP API: a FastAPI app over the service, the same under uvicorn and under Mangum (docs/run/http.md,
docs/run/security.md#what-is-signed). `app.create_app` assembles it; `routes/` has the routes, `console/` the built console.

Importing the package loads nothing else; `stepless.api.app` imports FastAPI.
"""
