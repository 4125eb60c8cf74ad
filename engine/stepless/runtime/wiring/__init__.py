"""Wires the engine: chooses the adapter for each port on a laptop, on AWS and in the sandbox. No other module of the
runtime, the API or the command line imports an adapter.
"""
