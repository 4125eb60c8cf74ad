"""The HTTP door: FastAPI over the service, the same app under uvicorn and under Mangum (docs/http.md,
docs/security.md#what-is-signed).

    app.py            assembly: `create_app`
    problems.py       every error as RFC 9457 `application/problem+json`
    auth.py           bearer API keys and their roles
    bodies.py         request bodies within bounds: strict JSON, forms
    negotiation.py    the headers Accept and Prefer
    replies.py        JSON answers and their bounds
    models.py         what goes in and out, for the validation and for /openapi.json
    links.py          addresses of what an answer speaks of
    waiting.py        waiting for a run without holding a thread
    workflows.py runs.py listing.py changing.py hooks.py events.py resume.py keys.py    the routes
    forms.py page.py  the page behind a signed link
    viewing.py        the page that watches a run; what it is made of is in view/

Whoever imports the package alone pays for nothing: FastAPI comes with `stepless.api.app`.
"""
