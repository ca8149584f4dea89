"""Try to break every guarantee, ours first."""
