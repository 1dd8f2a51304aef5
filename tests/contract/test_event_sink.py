"""The built-in event sinks keep the published contract."""

from __future__ import annotations

import pytest

from plastic_memories.adapters.websocket.sink import WebSocketFanOut, fan_out, no_events
from plastic_memories.errors import Unavailable
from plastic_memories.model.event import Event
from plastic_memories.ports.event_sink import EventSink
from plastic_memories.testing import EventSinkContract
from plastic_memories.testing.samples import MINE, NOW


class TestFanOut(EventSinkContract):
    @pytest.fixture
    def sink(self) -> EventSink:
        return fan_out(None)


class TestShortQueue(EventSinkContract):
    too_many = 10

    @pytest.fixture
    def sink(self) -> EventSink:
        return WebSocketFanOut(queue_length=3)


class TestNoEvents:
    def test_telling_nobody_is_no_problem(self) -> None:
        event = Event(user=MINE.user, persona_id="xiaoyu", event="memory.write", ts=NOW)

        no_events(None).publish([event])

    async def test_listening_says_that_events_are_off(self) -> None:
        with pytest.raises(Unavailable, match="PLASTIC_MEMORIES_EVENTS"):
            async with no_events(None).listen(MINE.user):
                pass
