"""Who is in the session of a draft: messages, rules, and the server for sockets that a gateway holds. Loads no web framework."""
