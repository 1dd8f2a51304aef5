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

-- What two branches know of one thing may differ.
DROP INDEX memory_one_active;
CREATE UNIQUE INDEX memory_one_active ON memory_items
    (tenant_id, user_id, persona_id, bot_id, scope, scope_ref, realm, type, mkey, branch_id)
    WHERE status = 'active';

-- What was said before this release waits like everything else.
INSERT INTO sessions (tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id,
                      waiting, rounds, waiting_since, last_active)
SELECT tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id,
       count(*), sum(role = 'user'), min(created_at), max(created_at)
  FROM messages
 GROUP BY tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id;
