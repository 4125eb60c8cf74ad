"""What a person sees in a terminal: tables, live trees, timelines, questions, complaints and tracebacks."""
