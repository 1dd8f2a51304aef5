"""The methods of the async client, by theme."""
