# Generated from async_methods/__init__.py (`make docs`); do not edit.
"""The methods of the sync client, by theme."""
