"""What a language model proposes to remember: read tolerantly, believed only as far as proven."""
