-- What ranking reads of each active memory, and nothing else: clustered by partition, so that one
-- recall reads neighbouring pages however large the file is. A partition is what one persona
-- knows, or '' for what all personas of a user share.
CREATE TABLE recall_entries (
    tenant_id    TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    partition_id TEXT NOT NULL,
    memory_id    INTEGER NOT NULL,
    -- Grows with every change inside the partition: a reader asks for what is new to it.
    revision     INTEGER NOT NULL,
    bot_id       TEXT NOT NULL,
    branch_id    TEXT NOT NULL,
    realm        TEXT NOT NULL,
    scope        TEXT NOT NULL,
    scope_ref    TEXT NOT NULL,
    session_id   TEXT NOT NULL,
    speaker      TEXT NOT NULL,
    happened_at  REAL NOT NULL,
    expires_at   REAL,
    importance   REAL NOT NULL,
    -- 1: does not lose weight with time.
    ageless      INTEGER NOT NULL,
    -- Codes of the terms in order, four bytes each (rules/text.py).
    terms        BLOB NOT NULL,
    -- One signed byte for each dimension (rules/vectors.py); NULL until it was embedded.
    vector       BLOB,
    PRIMARY KEY (tenant_id, user_id, partition_id, memory_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX recall_by_revision ON recall_entries (tenant_id, user_id, partition_id, revision);
CREATE INDEX recall_unembedded ON recall_entries (memory_id) WHERE vector IS NULL;

CREATE TABLE recall_partitions (
    tenant_id    TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    partition_id TEXT NOT NULL,
    revision     INTEGER NOT NULL,
    -- The revision at which an entry was last taken away.
    removed      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, user_id, partition_id)
) STRICT, WITHOUT ROWID;
