"""Who is protected, how much, and how guarantees add up."""
