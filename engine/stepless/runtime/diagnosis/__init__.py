"""Checks a store for `stepless doctor`: every stored value, then whether the values agree with each other. Changes nothing."""
