"""What can be wrong with a document that can be read: one module for each subject, each a table of checks."""
