"""Performs what nodes request of AWS: operations of any service, calls of models, and author code in a sandbox."""
