"""The commands, one module for those of a kind: what each of them asks of a file, a folder or a server, and prints."""
