"""Try to break a guarantee: attacks that certify how much a release gives away."""
