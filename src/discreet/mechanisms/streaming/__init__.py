"""What mechanisms for streams are made of: online algorithms, their noise, released iterates."""
