"""Books that outlive their process, in SQLite or PostgreSQL."""
