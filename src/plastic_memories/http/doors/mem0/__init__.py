"""The APIs of mem0's open-source server and of its hosted service, served by the hub."""

from __future__ import annotations
