"""The HTTP API: FastAPI over the service, the same app under uvicorn and under Mangum (docs/http.md,
docs/security.md#what-is-signed). `app.create_app` assembles it; `routes/` holds the routes, `view/` the page that shows a run.

Importing the package loads nothing else: FastAPI is imported with `stepless.api.app`.
"""
