"""The command line itself: the table of commands, how arguments are read, help, completion and the manual."""
