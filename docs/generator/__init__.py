"""One module for each generated page: each returns the page's text."""

from __future__ import annotations
