"""What a command works on: files of a folder, a database on this machine, or a server behind a URL."""
