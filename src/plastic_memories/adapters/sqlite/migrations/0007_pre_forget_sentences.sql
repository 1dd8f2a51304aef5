-- Forgetting hides sentences instead of whole messages, and a request made in the chat is undone
-- for a day.

ALTER TABLE messages ADD COLUMN hidden_spans TEXT NOT NULL DEFAULT '[]';

-- What users asked in the chat to forget. Until it is final it can be undone: ids and places only.
CREATE TABLE pending_forgets (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id    TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    persona_id   TEXT NOT NULL,
    -- The message that asks for it.
    message_id   INTEGER NOT NULL,
    status       TEXT NOT NULL,
    requested_at REAL NOT NULL,
    final_at     REAL NOT NULL,
    -- Which memories were revoked and restored, and which parts of which messages hidden.
    changes      TEXT NOT NULL
) STRICT;

CREATE INDEX pending_forgets_by_owner ON pending_forgets (tenant_id, user_id, persona_id, id);
CREATE INDEX pending_forgets_by_age ON pending_forgets (final_at) WHERE status = 'pending';
