"""Opens what a command works on: files of a folder, a local database, or a server behind a URL."""
