"""Contract tests for event sinks; a plug-in's test class inherits them."""

from __future__ import annotations

import pytest

from plastic_memories.model.event import Event
from plastic_memories.model.owner import User
from plastic_memories.ports.event_sink import EventSink
from plastic_memories.testing.samples import MINE, NOW, OTHER_TENANT, OTHER_USER


class EventSinkContract:
    """Inherit it and provide a sink: `class TestMine(EventSinkContract)`."""

    # More than the bounded queue of one listener holds.
    too_many = 5_000

    @pytest.fixture
    def sink(self) -> EventSink:
        raise NotImplementedError("Override this fixture with the sink under test.")

    async def test_a_listener_hears_events_in_order(self, sink: EventSink) -> None:
        async with sink.listen(MINE.user) as events:
            sink.publish([_event(1), _event(2)])
            sink.publish([])
            sink.publish([_event(3)])

            assert [(await anext(events)).id for _ in range(3)] == [1, 2, 3]

    async def test_an_event_arrives_whole(self, sink: EventSink) -> None:
        sent = _event(7, data={"type": "fact", "n": 1}, memory_id=3)

        async with sink.listen(MINE.user) as events:
            sink.publish([sent])

            assert await anext(events) == sent

    async def test_a_listener_hears_its_own_user_only(self, sink: EventSink) -> None:
        async with sink.listen(MINE.user) as events:
            sink.publish([_event(1, OTHER_USER.user), _event(2, OTHER_TENANT.user), _event(3)])

            assert (await anext(events)).id == 3

    async def test_every_listener_hears_every_event(self, sink: EventSink) -> None:
        async with sink.listen(MINE.user) as one, sink.listen(MINE.user) as two:
            sink.publish([_event(1)])

            assert (await anext(one)).id == (await anext(two)).id == 1

    async def test_a_listener_hears_nothing_from_before(self, sink: EventSink) -> None:
        sink.publish([_event(1)])

        async with sink.listen(MINE.user) as events:
            sink.publish([_event(2)])

            assert (await anext(events)).id == 2

    async def test_telling_nobody_is_no_problem(self, sink: EventSink) -> None:
        sink.publish([_event(1)])
        async with sink.listen(MINE.user):
            pass

        sink.publish([_event(2)])

    async def test_a_slow_listener_is_dropped_and_the_others_are_not(self, sink: EventSink) -> None:
        async with sink.listen(MINE.user) as slow, sink.listen(MINE.user) as quick:
            heard = []
            for number in range(self.too_many):
                sink.publish([_event(number)])
                heard.append((await anext(quick)).id)
            # This ends only because the sink has disconnected the listener.
            late = [event.id async for event in slow]

            assert heard == list(range(self.too_many))
            assert late == sorted(late)
            assert len(late) < self.too_many

    async def test_a_dropped_listener_can_come_back(self, sink: EventSink) -> None:
        async with sink.listen(MINE.user):
            sink.publish([_event(number) for number in range(self.too_many)])

        async with sink.listen(MINE.user) as events:
            sink.publish([_event(1)])

            assert (await anext(events)).id == 1


def _event(number: int, user: User = MINE.user, **given: object) -> Event:
    fields: dict[str, object] = {"persona_id": "xiaoyu", "event": "memory.write", "ts": NOW}
    return Event(user=user, id=number, **{**fields, **given})  # type: ignore[arg-type]
