-- The truth about the embedded database. Migrations lead here, and a test compares.
-- Every table that holds something of someone starts with tenant and user, and so does every key.
-- Text that was not given is '', so that unique keys can compare it; times are epoch seconds, UTC.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    time_zone  TEXT NOT NULL DEFAULT 'UTC',
    language   TEXT NOT NULL DEFAULT '',
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    UNIQUE (tenant_id, user_id)
) STRICT;

CREATE TABLE personas (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id    TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    persona_id   TEXT NOT NULL,
    display_name TEXT NOT NULL DEFAULT '',
    description  TEXT NOT NULL DEFAULT '',
    created_at   REAL NOT NULL,
    updated_at   REAL NOT NULL,
    UNIQUE (tenant_id, user_id, persona_id)
) STRICT;

-- The character card a persona was made from, as it came.
CREATE TABLE persona_cards (
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    persona_id TEXT NOT NULL,
    original   BLOB NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id)
) STRICT;

CREATE TABLE messages (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id     TEXT NOT NULL,
    user_id       TEXT NOT NULL,
    persona_id    TEXT NOT NULL,
    bot_id        TEXT NOT NULL DEFAULT '',
    source_app    TEXT NOT NULL DEFAULT '',
    platform      TEXT NOT NULL DEFAULT '',
    message_type  TEXT NOT NULL DEFAULT '',
    session_id    TEXT NOT NULL DEFAULT '',
    branch_id     TEXT NOT NULL DEFAULT '',
    realm         TEXT NOT NULL DEFAULT 'real',
    role          TEXT NOT NULL,
    speaker       TEXT NOT NULL DEFAULT '',
    content       TEXT NOT NULL,
    client_msg_id TEXT NOT NULL DEFAULT '',
    ts            REAL NOT NULL,
    created_at    REAL NOT NULL,
    -- Set by forget: the message stays, but no recall, snippet or extraction sees it again.
    hidden_at     REAL,
    -- The forgotten sentences of a message that is seen otherwise: [[start, end], ...].
    hidden_spans  TEXT NOT NULL DEFAULT '[]'
) STRICT;

CREATE INDEX messages_by_time ON messages (tenant_id, user_id, persona_id, ts, id);
CREATE INDEX messages_by_session ON messages (tenant_id, user_id, persona_id, session_id, id);
CREATE INDEX messages_by_age ON messages (ts);
CREATE UNIQUE INDEX messages_once ON messages
    (tenant_id, user_id, persona_id, bot_id, source_app, session_id, client_msg_id)
    WHERE client_msg_id <> '';

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

-- One conversation on one branch: how far it is digested, and what waits.
CREATE TABLE sessions (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id     TEXT NOT NULL,
    user_id       TEXT NOT NULL,
    persona_id    TEXT NOT NULL,
    session_id    TEXT NOT NULL,
    bot_id        TEXT NOT NULL DEFAULT '',
    source_app    TEXT NOT NULL DEFAULT '',
    branch_id     TEXT NOT NULL DEFAULT '',
    -- The realm somebody has set for the whole session; '' if nobody has.
    realm         TEXT NOT NULL DEFAULT '',
    -- The last message that was digested. Only the transaction that stores the results moves it.
    watermark     INTEGER NOT NULL DEFAULT 0,
    -- Messages, and the user's among them, since then.
    waiting       INTEGER NOT NULL DEFAULT 0,
    rounds        INTEGER NOT NULL DEFAULT 0,
    waiting_since REAL,
    last_active   REAL NOT NULL,
    ended_at      REAL,
    -- Where the archive holds it, and up to which message.
    archive_path  TEXT NOT NULL DEFAULT '',
    archived_upto INTEGER NOT NULL DEFAULT 0,
    UNIQUE (tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id)
) STRICT;

CREATE INDEX sessions_by_age ON sessions (last_active) WHERE waiting > 0;

-- A branch continues its parent from a message on; what came after that is not its past.
CREATE TABLE branches (
    tenant_id       TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    persona_id      TEXT NOT NULL,
    session_id      TEXT NOT NULL,
    branch_id       TEXT NOT NULL,
    parent_id       TEXT NOT NULL,
    from_message_id INTEGER NOT NULL,
    created_at      REAL NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id, session_id, branch_id)
) STRICT, WITHOUT ROWID;

-- Work that must not be lost. A lease says who does it now; one that runs out is taken over.
CREATE TABLE jobs (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id     TEXT NOT NULL,
    user_id       TEXT NOT NULL,
    persona_id    TEXT NOT NULL,
    session_ref   INTEGER NOT NULL,
    task_type     TEXT NOT NULL,
    status        TEXT NOT NULL,
    trigger       TEXT NOT NULL,
    retry_count   INTEGER NOT NULL DEFAULT 0,
    max_retries   INTEGER NOT NULL,
    error_message TEXT NOT NULL DEFAULT '',
    created_at    REAL NOT NULL,
    started_at    REAL,
    completed_at  REAL,
    -- Nobody takes it up before this time: while it is being done, that is the end of the lease.
    next_try_at   REAL NOT NULL,
    lease_owner   TEXT NOT NULL DEFAULT '',
    memory_ids    TEXT NOT NULL DEFAULT '[]'
) STRICT;

CREATE INDEX jobs_by_owner ON jobs (tenant_id, user_id, status, id);
CREATE INDEX jobs_by_age ON jobs (next_try_at) WHERE status IN ('pending', 'failed', 'processing');
-- A session has one open job of each kind; what comes meanwhile is done by the same or the next.
CREATE UNIQUE INDEX jobs_one_open ON jobs (tenant_id, user_id, persona_id, session_ref, task_type)
    WHERE status IN ('pending', 'failed', 'processing');

CREATE TABLE memory_items (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id        TEXT NOT NULL,
    user_id          TEXT NOT NULL,
    persona_id       TEXT NOT NULL,
    bot_id           TEXT NOT NULL DEFAULT '',
    source_app       TEXT NOT NULL DEFAULT '',
    session_id       TEXT NOT NULL DEFAULT '',
    branch_id        TEXT NOT NULL DEFAULT '',
    realm            TEXT NOT NULL DEFAULT 'real',
    scope            TEXT NOT NULL DEFAULT 'persona',
    -- The session or app that a narrow scope is bound to, '' for persona and global.
    scope_ref        TEXT NOT NULL DEFAULT '',
    type             TEXT NOT NULL,
    mkey             TEXT NOT NULL,
    content          TEXT NOT NULL,
    tags             TEXT NOT NULL DEFAULT '[]',
    status           TEXT NOT NULL,
    source_type      TEXT NOT NULL,
    source_ref       TEXT NOT NULL DEFAULT '',
    speaker          TEXT NOT NULL DEFAULT '',
    source_message_ids TEXT NOT NULL DEFAULT '[]',
    quote            TEXT NOT NULL DEFAULT '',
    confidence       REAL NOT NULL,
    importance       REAL NOT NULL,
    pinned           INTEGER NOT NULL DEFAULT 0,
    -- 0: found by search only; 1: always recalled by its persona; 2: by every persona of the user.
    core             INTEGER NOT NULL DEFAULT 0,
    expires_at       REAL,
    occurred_at      REAL,
    supersedes_id    INTEGER,
    superseded_by    INTEGER,
    -- The first version of the chain; NULL for a row that starts one.
    root_id          INTEGER,
    created_at       REAL NOT NULL,
    updated_at       REAL NOT NULL,
    last_recalled_at REAL,
    recall_count     INTEGER NOT NULL DEFAULT 0,
    metadata         TEXT NOT NULL DEFAULT '{}',
    attributes       TEXT NOT NULL DEFAULT '{}',
    idempotency_key  TEXT NOT NULL DEFAULT '',
    -- What is true of the user for every persona stands under the persona '': who was told it.
    told_to          TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX memory_by_owner ON memory_items (tenant_id, user_id, persona_id, status, id);
CREATE INDEX memory_by_type ON memory_items (tenant_id, user_id, persona_id, type, status, id);
CREATE INDEX memory_by_key ON memory_items (tenant_id, user_id, persona_id, type, mkey);
CREATE INDEX memory_by_root ON memory_items (tenant_id, user_id, root_id)
    WHERE root_id IS NOT NULL;
CREATE INDEX memory_core ON memory_items (tenant_id, user_id, core, id)
    WHERE core > 0 AND status IN ('active', 'candidate');
CREATE INDEX memory_global ON memory_items (tenant_id, user_id, id) WHERE scope = 'global';
CREATE INDEX memory_expiring ON memory_items (expires_at)
    WHERE expires_at IS NOT NULL AND status IN ('active', 'candidate');
-- What two branches know of one thing may differ.
CREATE UNIQUE INDEX memory_one_active ON memory_items
    (tenant_id, user_id, persona_id, bot_id, scope, scope_ref, realm, type, mkey, branch_id)
    WHERE status = 'active';
-- Preferences and constraints may coexist; the confirm transaction guards those.
CREATE UNIQUE INDEX memory_one_slot ON memory_items
    (tenant_id, user_id, persona_id, bot_id, realm, type)
    WHERE status = 'active' AND type IN ('identity', 'values');
CREATE UNIQUE INDEX memory_idempotent ON memory_items
    (tenant_id, user_id, persona_id, bot_id, idempotency_key) WHERE idempotency_key <> '';

-- From a message to what was learned from it: edits and forget follow these arrows.
CREATE TABLE memory_sources (
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    message_id INTEGER NOT NULL,
    memory_id  INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, user_id, message_id, memory_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX memory_sources_by_memory ON memory_sources (tenant_id, user_id, memory_id);

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

CREATE TABLE persona_slots (
    tenant_id       TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    persona_id      TEXT NOT NULL,
    bot_id          TEXT NOT NULL DEFAULT '',
    realm           TEXT NOT NULL DEFAULT 'real',
    slot_name       TEXT NOT NULL,
    value_json      TEXT NOT NULL,
    provenance_json TEXT NOT NULL,
    updated_at      REAL NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id, bot_id, realm, slot_name)
) STRICT, WITHOUT ROWID;

-- Keyed digests of what must never be learned again; the text itself is nowhere.
CREATE TABLE tombstones (
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    persona_id TEXT NOT NULL,
    digest     TEXT NOT NULL,
    -- The same over the key alone: an explicit statement about a key lifts all its marks.
    key_digest TEXT NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id, digest)
) STRICT, WITHOUT ROWID;

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

-- What was erased, by id: a restored backup is made to forget it again.
CREATE TABLE erasures (
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    persona_id TEXT NOT NULL,
    kind       TEXT NOT NULL,
    row_id     INTEGER NOT NULL,
    erased_at  REAL NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id, kind, row_id)
) STRICT, WITHOUT ROWID;

-- Folders that somebody has asked to keep in step; persona_id is '' for the user's own.
CREATE TABLE page_folders (
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    persona_id TEXT NOT NULL,
    -- The persona under which lines of the user's own page are stored.
    kept_for   TEXT NOT NULL,
    -- What the page looked like, and the last change of the user's, when both were in step.
    stamp      TEXT NOT NULL DEFAULT '',
    audit_id   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, user_id, persona_id)
) STRICT, WITHOUT ROWID;

-- Of each line that was in step a digest: enough to see which side has changed since.
CREATE TABLE page_lines (
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    persona_id TEXT NOT NULL,
    root_id    INTEGER NOT NULL,
    digest     TEXT NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id, root_id)
) STRICT, WITHOUT ROWID;

-- Keyed digests of hand-written lines that repeat what was forgotten: neither shown nor learned.
CREATE TABLE page_mutes (
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    digest     TEXT NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (tenant_id, user_id, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE goals (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    persona_id TEXT NOT NULL,
    title      TEXT NOT NULL,
    details    TEXT NOT NULL DEFAULT '',
    status     TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
) STRICT;

CREATE INDEX goals_by_owner ON goals (tenant_id, user_id, persona_id, id);

CREATE TABLE goal_links (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    persona_id TEXT NOT NULL,
    goal_id    INTEGER NOT NULL REFERENCES goals (id) ON DELETE CASCADE,
    memory_id  INTEGER,
    note       TEXT NOT NULL DEFAULT '',
    created_at REAL NOT NULL
) STRICT;

CREATE INDEX goal_links_by_goal ON goal_links (tenant_id, user_id, persona_id, goal_id);
CREATE INDEX goal_links_by_memory ON goal_links (tenant_id, user_id, memory_id)
    WHERE memory_id IS NOT NULL;

CREATE TABLE api_keys (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    digest      TEXT NOT NULL UNIQUE,
    tenant_id   TEXT NOT NULL,
    user_id     TEXT NOT NULL,
    label       TEXT NOT NULL DEFAULT '',
    limits      TEXT NOT NULL DEFAULT '{}',
    created_at  REAL NOT NULL,
    revoked_at  REAL,
    last_used_at REAL
) STRICT;

-- One row for each signed-in browser and each unused link, by the digest of its secret.
CREATE TABLE console_sessions (
    digest     TEXT PRIMARY KEY,
    -- 'session', or 'link' until it is used.
    kind       TEXT NOT NULL,
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    -- The key it stands for: a session ends with its key.
    key_digest TEXT NOT NULL,
    is_admin   INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- Who changed what, when, by which key: ids only. Also the stream behind /ws/events.
CREATE TABLE audit (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    persona_id TEXT NOT NULL,
    event      TEXT NOT NULL,
    memory_id  INTEGER,
    key_label  TEXT NOT NULL DEFAULT '',
    request_id TEXT NOT NULL DEFAULT '',
    ts         REAL NOT NULL,
    data       TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE INDEX audit_by_user ON audit (tenant_id, user_id, id);
CREATE INDEX audit_by_memory ON audit (tenant_id, user_id, memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX audit_by_age ON audit (ts);
