"""The store over one DynamoDB table: one module for each part of the port, over one wire of requests."""
