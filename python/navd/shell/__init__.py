"""The shell around the core: a thread with the sockets, and the futures that callers wait for."""
