"""The SillyTavern extension with its host; a package, so that host and browser end with it."""

from __future__ import annotations
