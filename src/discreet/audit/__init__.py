"""Try to break every guarantee, ours first: an audit refutes, it never proves."""
