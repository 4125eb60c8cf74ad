"""What a caller may ask for: publish, start, answer, hold, rerun, search, inspect. Each verb is one function over the ports of a
`World`; it returns at once and waits for no run. `runtime/service.py` puts them together for every door.
"""
