-- What ranking reads of each message, in the same shape as for memories.
CREATE TABLE talk_entries (
    tenant_id    TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    partition_id TEXT NOT NULL,
    message_id   INTEGER NOT NULL,
    revision     INTEGER NOT NULL,
    bot_id       TEXT NOT NULL,
    branch_id    TEXT NOT NULL,
    source_app   TEXT NOT NULL,
    realm        TEXT NOT NULL,
    -- 'group', 'private', or '' if nobody has said where it was.
    audience     TEXT NOT NULL,
    session_id   TEXT NOT NULL,
    role         TEXT NOT NULL,
    speaker      TEXT NOT NULL,
    happened_at  REAL NOT NULL,
    importance   REAL NOT NULL,
    terms        BLOB NOT NULL,
    vector       BLOB,
    PRIMARY KEY (tenant_id, user_id, partition_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX talk_by_revision ON talk_entries (tenant_id, user_id, partition_id, revision);
CREATE INDEX talk_unembedded ON talk_entries (message_id) WHERE vector IS NULL;

CREATE TABLE talk_partitions (
    tenant_id    TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    partition_id TEXT NOT NULL,
    revision     INTEGER NOT NULL,
    removed      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, user_id, partition_id)
) STRICT, WITHOUT ROWID;

-- Messages up to this one were stored before: they are indexed in the background, newest first.
INSERT INTO meta (key, value)
SELECT 'talk_unindexed_upto', CAST(max(id) AS TEXT) FROM messages HAVING max(id) IS NOT NULL;
