"""What must be kept of the cards that personas were made from."""

from __future__ import annotations

from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.testing.samples import MINE, NOW, STRANGERS, create_personas

_CARD = b"\x89PNG\r\n\x1a\n\x00\xff card"


class CardStoreContract:
    async def test_a_card_comes_back_byte_for_byte(self, storage: StorageBackend) -> None:
        await create_personas(storage, MINE)

        await storage.write(lambda s: s.cards.put(MINE, b"earlier", NOW))
        await storage.write(lambda s: s.cards.put(MINE, _CARD, NOW + 1))

        assert await storage.read(lambda s: s.cards.get(MINE)) == _CARD

    async def test_a_card_is_nobody_elses(self, storage: StorageBackend) -> None:
        await create_personas(storage, MINE, *STRANGERS)

        await storage.write(lambda s: s.cards.put(MINE, _CARD, NOW))

        def of_strangers(stores: Stores) -> list[bytes | None]:
            return [stores.cards.get(stranger) for stranger in STRANGERS]

        def drop_unknown(stores: Stores) -> bool:
            return any(stores.cards.drop(stranger) for stranger in STRANGERS)

        assert await storage.read(of_strangers) == [None] * len(STRANGERS)
        assert await storage.write(drop_unknown) is False
        assert await storage.read(lambda s: s.cards.get(MINE)) == _CARD

    async def test_a_dropped_card_is_gone(self, storage: StorageBackend) -> None:
        await create_personas(storage, MINE)
        await storage.write(lambda s: s.cards.put(MINE, _CARD, NOW))

        assert await storage.write(lambda s: s.cards.drop(MINE)) is True

        assert await storage.read(lambda s: s.cards.get(MINE)) is None

    async def test_a_card_goes_with_its_persona(self, storage: StorageBackend) -> None:
        await create_personas(storage, MINE)

        def work(stores: Stores) -> None:
            stores.cards.put(MINE, _CARD, NOW)
            stores.personas.erase(MINE, NOW)

        await storage.write(work)

        assert await storage.read(lambda s: s.cards.get(MINE)) is None
