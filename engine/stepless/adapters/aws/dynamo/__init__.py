"""Implements the store in one DynamoDB table: one module for each part of the port, above `table`, which has the table itself."""
