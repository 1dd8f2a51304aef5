"""Validate what a language model proposes to remember against the user's own messages."""
