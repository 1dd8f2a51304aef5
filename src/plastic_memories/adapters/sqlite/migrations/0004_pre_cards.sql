-- The character card a persona was made from, as it came.
CREATE TABLE persona_cards (
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    persona_id TEXT NOT NULL,
    original   BLOB NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id)
) STRICT;
