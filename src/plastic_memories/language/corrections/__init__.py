"""Statements that correct or end what was said before, and what they correct."""
