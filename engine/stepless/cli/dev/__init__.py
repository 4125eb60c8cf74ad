"""`stepless dev`: the web server, the folder that it keeps published, the modules that it loads again, and what it logs."""
