"""The documents, and the program that writes the generated ones."""

from __future__ import annotations
