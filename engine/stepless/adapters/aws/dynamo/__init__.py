"""Implements the store in one DynamoDB table: one module for each part of the port, and one module (`wire`) that sends the
requests."""
