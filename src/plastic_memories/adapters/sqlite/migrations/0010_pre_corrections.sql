-- A message that corrects: which earlier messages, and which memories it has ended.
CREATE TABLE message_corrections (
    tenant_id      TEXT NOT NULL,
    user_id        TEXT NOT NULL,
    persona_id     TEXT NOT NULL,
    message_id     INTEGER NOT NULL,
    -- 0 in a row that names a memory, and the other way round.
    old_message_id INTEGER NOT NULL,
    memory_id      INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id, message_id, old_message_id, memory_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX corrections_by_old ON message_corrections
    (tenant_id, user_id, persona_id, old_message_id) WHERE old_message_id > 0;
