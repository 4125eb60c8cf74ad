"""W11: what the HTTP interface of `stepless dev` costs, beside plain FastAPI that does the same work."""
