"""Defines the command line: the table of commands, argument parsing, help, completion and the manual."""
