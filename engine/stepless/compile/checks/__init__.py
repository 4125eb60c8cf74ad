"""Checks a readable document: one module for each subject, one function for each fault."""
