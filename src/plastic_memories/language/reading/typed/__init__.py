"""Talk as people type it: emoji, short forms, missing punctuation, short answers."""
