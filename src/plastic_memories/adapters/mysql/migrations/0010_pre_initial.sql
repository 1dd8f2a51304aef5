-- The first schema of MySQL and MariaDB: what the embedded database has with migration 13, whose
-- numbers these migrations share. Text that was not given is ''; times are epoch seconds, UTC.
-- A key of InnoDB holds 3072 bytes, which a few long names exceed, and an index has no condition:
-- so what must be unique is a digest, NULL where the condition does not hold.
-- {collation} compares by code point, as SQLite does, and does not ignore a space at the end.

CREATE TABLE IF NOT EXISTS meta (
    "key"   VARCHAR(64) PRIMARY KEY,
    value MEDIUMTEXT NOT NULL
) CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS users (
    id         BIGINT AUTO_INCREMENT,
    tenant_id  VARCHAR(200) NOT NULL,
    user_id    VARCHAR(200) NOT NULL,
    time_zone  VARCHAR(100) NOT NULL DEFAULT 'UTC',
    language   VARCHAR(200) NOT NULL DEFAULT '',
    created_at DOUBLE NOT NULL,
    updated_at DOUBLE NOT NULL,
    UNIQUE (tenant_id, user_id),
    PRIMARY KEY (id)
) CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS personas (
    id           BIGINT AUTO_INCREMENT,
    tenant_id    VARCHAR(200) NOT NULL,
    user_id      VARCHAR(200) NOT NULL,
    persona_id   VARCHAR(200) NOT NULL,
    display_name VARCHAR(2000) NOT NULL DEFAULT '',
    description  MEDIUMTEXT NOT NULL DEFAULT (''),
    created_at   DOUBLE NOT NULL,
    updated_at   DOUBLE NOT NULL,
    UNIQUE (tenant_id, user_id, persona_id),
    PRIMARY KEY (id)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- The character card a persona was made from, as it came.
CREATE TABLE IF NOT EXISTS persona_cards (
    tenant_id  VARCHAR(200) NOT NULL,
    user_id    VARCHAR(200) NOT NULL,
    persona_id VARCHAR(200) NOT NULL,
    original   MEDIUMBLOB NOT NULL,
    updated_at DOUBLE NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id)
) CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS messages (
    id            BIGINT AUTO_INCREMENT,
    tenant_id     VARCHAR(200) NOT NULL,
    user_id       VARCHAR(200) NOT NULL,
    persona_id    VARCHAR(200) NOT NULL,
    bot_id        VARCHAR(200) NOT NULL DEFAULT '',
    source_app    VARCHAR(200) NOT NULL DEFAULT '',
    platform      VARCHAR(200) NOT NULL DEFAULT '',
    message_type  VARCHAR(200) NOT NULL DEFAULT '',
    session_id    VARCHAR(200) NOT NULL DEFAULT '',
    branch_id     VARCHAR(200) NOT NULL DEFAULT '',
    realm         VARCHAR(32) NOT NULL DEFAULT 'real',
    role          VARCHAR(32) NOT NULL,
    speaker       VARCHAR(200) NOT NULL DEFAULT '',
    content       MEDIUMTEXT NOT NULL,
    client_msg_id VARCHAR(200) NOT NULL DEFAULT '',
    ts            DOUBLE NOT NULL,
    created_at    DOUBLE NOT NULL,
    -- Set by forget: the message stays, but no recall, snippet or extraction sees it again.
    hidden_at     DOUBLE,
    -- The forgotten sentences of a message that is seen otherwise: [[start, end], ...].
    hidden_spans  MEDIUMTEXT NOT NULL DEFAULT ('[]'),
    PRIMARY KEY (id),
    once_key CHAR(32) AS (CASE WHEN client_msg_id <> '' THEN MD5(CONCAT_WS(CHAR(31), persona_id, bot_id, source_app, session_id, client_msg_id)) END) STORED,
    UNIQUE INDEX messages_once (tenant_id, user_id, once_key),
    INDEX messages_by_time (tenant_id, user_id, persona_id, ts, id),
    INDEX messages_by_session (tenant_id, user_id, persona_id, session_id(100), id),
    INDEX messages_by_age (ts)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- One conversation on one branch: how far it is digested, and what waits.
CREATE TABLE IF NOT EXISTS sessions (
    id            BIGINT AUTO_INCREMENT,
    tenant_id     VARCHAR(200) NOT NULL,
    user_id       VARCHAR(200) NOT NULL,
    persona_id    VARCHAR(200) NOT NULL,
    session_id    VARCHAR(200) NOT NULL,
    bot_id        VARCHAR(200) NOT NULL DEFAULT '',
    source_app    VARCHAR(200) NOT NULL DEFAULT '',
    branch_id     VARCHAR(200) NOT NULL DEFAULT '',
    -- The realm somebody has set for the whole session; '' if nobody has.
    realm         VARCHAR(32) NOT NULL DEFAULT '',
    -- The last message that was digested. Only the transaction that stores the results moves it.
    watermark     BIGINT NOT NULL DEFAULT 0,
    -- Messages, and the user's among them, since then.
    waiting       BIGINT NOT NULL DEFAULT 0,
    rounds        BIGINT NOT NULL DEFAULT 0,
    waiting_since DOUBLE,
    last_active   DOUBLE NOT NULL,
    ended_at      DOUBLE,
    -- Where the archive holds it, and up to which message.
    archive_path  MEDIUMTEXT NOT NULL DEFAULT (''),
    archived_upto BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (id),
    place_key CHAR(32) AS (MD5(CONCAT_WS(CHAR(31), persona_id, session_id, bot_id, source_app, branch_id))) STORED,
    UNIQUE INDEX sessions_place (tenant_id, user_id, place_key),
    INDEX sessions_by_age (last_active)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- A branch continues its parent from a message on; what came after that is not its past.
CREATE TABLE IF NOT EXISTS branches (
    tenant_id       VARCHAR(200) NOT NULL,
    user_id         VARCHAR(200) NOT NULL,
    persona_id      VARCHAR(200) NOT NULL,
    session_id      VARCHAR(200) NOT NULL,
    branch_id       VARCHAR(200) NOT NULL,
    parent_id       VARCHAR(200) NOT NULL,
    from_message_id BIGINT NOT NULL,
    created_at      DOUBLE NOT NULL,
    place_key CHAR(32) AS (MD5(CONCAT_WS(CHAR(31), persona_id, session_id, branch_id))) STORED,
    UNIQUE INDEX branches_place (tenant_id, user_id, place_key)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- Work that must not be lost. A lease says who does it now; one that runs out is taken over.
CREATE TABLE IF NOT EXISTS jobs (
    id            BIGINT AUTO_INCREMENT,
    tenant_id     VARCHAR(200) NOT NULL,
    user_id       VARCHAR(200) NOT NULL,
    persona_id    VARCHAR(200) NOT NULL,
    session_ref   BIGINT NOT NULL,
    task_type     VARCHAR(32) NOT NULL,
    status        VARCHAR(32) NOT NULL,
    "trigger"       VARCHAR(32) NOT NULL,
    retry_count   BIGINT NOT NULL DEFAULT 0,
    max_retries   BIGINT NOT NULL,
    error_message MEDIUMTEXT NOT NULL DEFAULT (''),
    created_at    DOUBLE NOT NULL,
    started_at    DOUBLE,
    completed_at  DOUBLE,
    -- Nobody takes it up before this time: while it is being done, that is the end of the lease.
    next_try_at   DOUBLE NOT NULL,
    lease_owner   VARCHAR(200) NOT NULL DEFAULT '',
    memory_ids    MEDIUMTEXT NOT NULL DEFAULT ('[]'),
    PRIMARY KEY (id),
    open_key CHAR(32) AS (CASE WHEN status IN ('pending', 'failed', 'processing') THEN MD5(CONCAT_WS(CHAR(31), persona_id, session_ref, task_type)) END) STORED,
    UNIQUE INDEX jobs_one_open (tenant_id, user_id, open_key),
    INDEX jobs_by_owner (tenant_id, user_id, status, id),
    INDEX jobs_by_age (next_try_at)
) CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS memory_items (
    id               BIGINT AUTO_INCREMENT,
    tenant_id        VARCHAR(200) NOT NULL,
    user_id          VARCHAR(200) NOT NULL,
    persona_id       VARCHAR(200) NOT NULL,
    bot_id           VARCHAR(200) NOT NULL DEFAULT '',
    source_app       VARCHAR(200) NOT NULL DEFAULT '',
    session_id       VARCHAR(200) NOT NULL DEFAULT '',
    branch_id        VARCHAR(200) NOT NULL DEFAULT '',
    realm            VARCHAR(32) NOT NULL DEFAULT 'real',
    scope            VARCHAR(32) NOT NULL DEFAULT 'persona',
    -- The session or app that a narrow scope is bound to, '' for persona and global.
    scope_ref        VARCHAR(200) NOT NULL DEFAULT '',
    type             VARCHAR(32) NOT NULL,
    mkey             VARCHAR(2000) NOT NULL,
    content          MEDIUMTEXT NOT NULL,
    tags             MEDIUMTEXT NOT NULL DEFAULT ('[]'),
    status           VARCHAR(32) NOT NULL,
    source_type      VARCHAR(32) NOT NULL,
    source_ref       MEDIUMTEXT NOT NULL DEFAULT (''),
    speaker          VARCHAR(200) NOT NULL DEFAULT '',
    source_message_ids MEDIUMTEXT NOT NULL DEFAULT ('[]'),
    quote            MEDIUMTEXT NOT NULL DEFAULT (''),
    confidence       DOUBLE NOT NULL,
    importance       DOUBLE NOT NULL,
    pinned           BOOLEAN NOT NULL DEFAULT FALSE,
    -- 0: found by search only; 1: always recalled by its persona; 2: by every persona of the user.
    core             BIGINT NOT NULL DEFAULT 0,
    expires_at       DOUBLE,
    occurred_at      DOUBLE,
    supersedes_id    BIGINT,
    superseded_by    BIGINT,
    -- The first version of the chain; NULL for a row that starts one.
    root_id          BIGINT,
    created_at       DOUBLE NOT NULL,
    updated_at       DOUBLE NOT NULL,
    last_recalled_at DOUBLE,
    recall_count     BIGINT NOT NULL DEFAULT 0,
    metadata         MEDIUMTEXT NOT NULL DEFAULT ('{}'),
    attributes       MEDIUMTEXT NOT NULL DEFAULT ('{}'),
    idempotency_key  VARCHAR(200) NOT NULL DEFAULT '',
    -- What is true of the user for every persona stands under the persona '': who was told it.
    told_to          VARCHAR(200) NOT NULL DEFAULT '',
    PRIMARY KEY (id),
    active_key CHAR(32) AS (CASE WHEN status = 'active' THEN MD5(CONCAT_WS(CHAR(31), persona_id, bot_id, scope, scope_ref, realm, type, mkey, branch_id)) END) STORED,
    UNIQUE INDEX memory_one_active (tenant_id, user_id, active_key),
    slot_key CHAR(32) AS (CASE WHEN status = 'active' AND type IN ('identity', 'values') THEN MD5(CONCAT_WS(CHAR(31), persona_id, bot_id, realm, type)) END) STORED,
    UNIQUE INDEX memory_one_slot (tenant_id, user_id, slot_key),
    once_key CHAR(32) AS (CASE WHEN idempotency_key <> '' THEN MD5(CONCAT_WS(CHAR(31), persona_id, bot_id, idempotency_key)) END) STORED,
    UNIQUE INDEX memory_idempotent (tenant_id, user_id, once_key),
    INDEX memory_by_owner (tenant_id, user_id, persona_id, status, id),
    INDEX memory_by_type (tenant_id, user_id, persona_id, type, status, id),
    INDEX memory_by_key (tenant_id, user_id, persona_id, type, mkey(50)),
    INDEX memory_by_root (tenant_id, user_id, root_id),
    INDEX memory_core (tenant_id, user_id, core, id),
    INDEX memory_global (tenant_id, user_id, id),
    INDEX memory_expiring (expires_at)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- From a message to what was learned from it: edits and forget follow these arrows.
CREATE TABLE IF NOT EXISTS memory_sources (
    tenant_id  VARCHAR(200) NOT NULL,
    user_id    VARCHAR(200) NOT NULL,
    message_id BIGINT NOT NULL,
    memory_id  BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, user_id, message_id, memory_id),
    INDEX memory_sources_by_memory (tenant_id, user_id, memory_id)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- What ranking reads of each active memory, and nothing else: clustered by partition, so that one
-- recall reads neighbouring pages however large the file is. A partition is what one persona
-- knows, or '' for what all personas of a user share.
CREATE TABLE IF NOT EXISTS recall_entries (
    tenant_id    VARCHAR(200) NOT NULL,
    user_id      VARCHAR(200) NOT NULL,
    partition_id VARCHAR(200) NOT NULL,
    memory_id    BIGINT NOT NULL,
    -- Grows with every change inside the partition: a reader asks for what is new to it.
    revision     BIGINT NOT NULL,
    bot_id       VARCHAR(200) NOT NULL,
    branch_id    VARCHAR(200) NOT NULL,
    realm        VARCHAR(32) NOT NULL,
    scope        VARCHAR(32) NOT NULL,
    scope_ref    VARCHAR(200) NOT NULL,
    session_id   VARCHAR(200) NOT NULL,
    speaker      VARCHAR(200) NOT NULL,
    happened_at  DOUBLE NOT NULL,
    expires_at   DOUBLE,
    importance   DOUBLE NOT NULL,
    -- 1: does not lose weight with time.
    ageless      BIGINT NOT NULL,
    -- Codes of the terms in order, four bytes each (rules/text.py).
    terms        MEDIUMBLOB NOT NULL,
    -- One signed byte for each dimension (rules/vectors.py); NULL until it was embedded.
    vector       MEDIUMBLOB,
    PRIMARY KEY (tenant_id, user_id, partition_id, memory_id),
    INDEX recall_by_revision (tenant_id, user_id, partition_id, revision),
    INDEX recall_unembedded (memory_id)
) CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS recall_partitions (
    tenant_id    VARCHAR(200) NOT NULL,
    user_id      VARCHAR(200) NOT NULL,
    partition_id VARCHAR(200) NOT NULL,
    revision     BIGINT NOT NULL,
    -- The revision at which an entry was last taken away.
    removed      BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, user_id, partition_id)
) CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS persona_slots (
    tenant_id       VARCHAR(200) NOT NULL,
    user_id         VARCHAR(200) NOT NULL,
    persona_id      VARCHAR(200) NOT NULL,
    bot_id          VARCHAR(200) NOT NULL DEFAULT '',
    realm           VARCHAR(32) NOT NULL DEFAULT 'real',
    slot_name       VARCHAR(64) NOT NULL,
    value_json      MEDIUMTEXT NOT NULL,
    provenance_json MEDIUMTEXT NOT NULL,
    updated_at      DOUBLE NOT NULL,
    place_key CHAR(32) AS (MD5(CONCAT_WS(CHAR(31), persona_id, bot_id, realm, slot_name))) STORED,
    UNIQUE INDEX persona_slots_place (tenant_id, user_id, place_key)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- Keyed digests of what must never be learned again; the text itself is nowhere.
CREATE TABLE IF NOT EXISTS tombstones (
    tenant_id  VARCHAR(200) NOT NULL,
    user_id    VARCHAR(200) NOT NULL,
    persona_id VARCHAR(200) NOT NULL,
    digest     VARCHAR(128) NOT NULL,
    -- The same over the key alone: an explicit statement about a key lifts all its marks.
    key_digest VARCHAR(128) NOT NULL,
    created_at DOUBLE NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id, digest)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- What was erased, by id: a restored backup is made to forget it again.
CREATE TABLE IF NOT EXISTS erasures (
    tenant_id  VARCHAR(200) NOT NULL,
    user_id    VARCHAR(200) NOT NULL,
    persona_id VARCHAR(200) NOT NULL,
    kind       VARCHAR(32) NOT NULL,
    row_id     BIGINT NOT NULL,
    erased_at  DOUBLE NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id, kind, row_id)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- Folders that somebody has asked to keep in step; persona_id is '' for the user's own.
CREATE TABLE IF NOT EXISTS page_folders (
    tenant_id  VARCHAR(200) NOT NULL,
    user_id    VARCHAR(200) NOT NULL,
    persona_id VARCHAR(200) NOT NULL,
    -- The persona under which lines of the user's own page are stored.
    kept_for   VARCHAR(200) NOT NULL,
    -- What the page looked like, and the last change of the user's, when both were in step.
    stamp      VARCHAR(200) NOT NULL DEFAULT '',
    audit_id   BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, user_id, persona_id)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- Of each line that was in step a digest: enough to see which side has changed since.
CREATE TABLE IF NOT EXISTS page_lines (
    tenant_id  VARCHAR(200) NOT NULL,
    user_id    VARCHAR(200) NOT NULL,
    persona_id VARCHAR(200) NOT NULL,
    root_id    BIGINT NOT NULL,
    digest     VARCHAR(128) NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id, root_id)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- Keyed digests of hand-written lines that repeat what was forgotten: neither shown nor learned.
CREATE TABLE IF NOT EXISTS page_mutes (
    tenant_id  VARCHAR(200) NOT NULL,
    user_id    VARCHAR(200) NOT NULL,
    digest     VARCHAR(128) NOT NULL,
    created_at DOUBLE NOT NULL,
    PRIMARY KEY (tenant_id, user_id, digest)
) CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS goals (
    id         BIGINT AUTO_INCREMENT,
    tenant_id  VARCHAR(200) NOT NULL,
    user_id    VARCHAR(200) NOT NULL,
    persona_id VARCHAR(200) NOT NULL,
    title      MEDIUMTEXT NOT NULL,
    details    MEDIUMTEXT NOT NULL DEFAULT (''),
    status     VARCHAR(32) NOT NULL,
    created_at DOUBLE NOT NULL,
    updated_at DOUBLE NOT NULL,
    PRIMARY KEY (id),
    INDEX goals_by_owner (tenant_id, user_id, persona_id, id)
) CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS goal_links (
    id         BIGINT AUTO_INCREMENT,
    tenant_id  VARCHAR(200) NOT NULL,
    user_id    VARCHAR(200) NOT NULL,
    persona_id VARCHAR(200) NOT NULL,
    goal_id    BIGINT NOT NULL,
    memory_id  BIGINT,
    note       MEDIUMTEXT NOT NULL DEFAULT (''),
    created_at DOUBLE NOT NULL,
    PRIMARY KEY (id),
    INDEX goal_links_by_goal (tenant_id, user_id, persona_id, goal_id),
    INDEX goal_links_by_memory (tenant_id, user_id, memory_id)
) CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS api_keys (
    id          BIGINT AUTO_INCREMENT PRIMARY KEY,
    digest      VARCHAR(128) NOT NULL UNIQUE,
    tenant_id   VARCHAR(200) NOT NULL,
    user_id     VARCHAR(200) NOT NULL,
    label       VARCHAR(2000) NOT NULL DEFAULT '',
    limits      MEDIUMTEXT NOT NULL DEFAULT ('{}'),
    created_at  DOUBLE NOT NULL,
    revoked_at  DOUBLE,
    last_used_at DOUBLE
) CHARACTER SET utf8mb4 COLLATE {collation};

-- Who changed what, when, by which key: ids only. Also the stream behind /ws/events.
CREATE TABLE IF NOT EXISTS audit (
    id         BIGINT AUTO_INCREMENT,
    tenant_id  VARCHAR(200) NOT NULL,
    user_id    VARCHAR(200) NOT NULL,
    persona_id VARCHAR(200) NOT NULL,
    event      VARCHAR(64) NOT NULL,
    memory_id  BIGINT,
    key_label  VARCHAR(2000) NOT NULL DEFAULT '',
    request_id VARCHAR(200) NOT NULL DEFAULT '',
    ts         DOUBLE NOT NULL,
    data       MEDIUMTEXT NOT NULL DEFAULT ('{}'),
    PRIMARY KEY (id),
    INDEX audit_by_memory (tenant_id, user_id, memory_id),
    INDEX audit_by_age (ts)
) CHARACTER SET utf8mb4 COLLATE {collation};


-- Who writes for a user holds the user's row here until the end of its transaction.
CREATE TABLE IF NOT EXISTS writers (
    tenant_id VARCHAR(200) NOT NULL,
    user_id   VARCHAR(200) NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- A message that corrects: which earlier messages, and which memories it has ended.
CREATE TABLE IF NOT EXISTS message_corrections (
    tenant_id VARCHAR(200) NOT NULL,
    user_id VARCHAR(200) NOT NULL,
    persona_id VARCHAR(200) NOT NULL,
    message_id BIGINT NOT NULL,
    old_message_id BIGINT NOT NULL,
    memory_id BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, user_id, persona_id, message_id, old_message_id, memory_id),
    INDEX corrections_by_old (tenant_id, user_id, persona_id, old_message_id)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- What ranking reads of each message, in the same shape as for memories.
CREATE TABLE IF NOT EXISTS talk_entries (
    tenant_id VARCHAR(200) NOT NULL,
    user_id VARCHAR(200) NOT NULL,
    partition_id VARCHAR(200) NOT NULL,
    message_id BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    bot_id VARCHAR(200) NOT NULL,
    branch_id VARCHAR(200) NOT NULL,
    source_app VARCHAR(200) NOT NULL,
    realm VARCHAR(200) NOT NULL,
    audience VARCHAR(200) NOT NULL,
    session_id VARCHAR(200) NOT NULL,
    role VARCHAR(200) NOT NULL,
    speaker VARCHAR(200) NOT NULL,
    happened_at DOUBLE NOT NULL,
    importance DOUBLE NOT NULL,
    terms MEDIUMBLOB NOT NULL,
    vector MEDIUMBLOB,
    PRIMARY KEY (tenant_id, user_id, partition_id, message_id),
    INDEX talk_by_revision (tenant_id, user_id, partition_id, revision),
    INDEX talk_unembedded (message_id)
) CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS talk_partitions (
    tenant_id VARCHAR(200) NOT NULL,
    user_id VARCHAR(200) NOT NULL,
    partition_id VARCHAR(200) NOT NULL,
    revision BIGINT NOT NULL,
    removed BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, user_id, partition_id)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- What users asked in the chat to forget. Until it is final it can be undone: ids and places only.
CREATE TABLE IF NOT EXISTS pending_forgets (
    id BIGINT AUTO_INCREMENT,
    tenant_id VARCHAR(200) NOT NULL,
    user_id VARCHAR(200) NOT NULL,
    persona_id VARCHAR(200) NOT NULL,
    message_id BIGINT NOT NULL,
    status VARCHAR(32) NOT NULL,
    requested_at DOUBLE NOT NULL,
    final_at DOUBLE NOT NULL,
    changes MEDIUMTEXT NOT NULL,
    PRIMARY KEY (id),
    INDEX pending_forgets_by_owner (tenant_id, user_id, persona_id, id),
    INDEX pending_forgets_by_age (final_at)
) CHARACTER SET utf8mb4 COLLATE {collation};

-- One row for each signed-in browser and each unused link, by the digest of its secret.
CREATE TABLE IF NOT EXISTS console_sessions (
    digest VARCHAR(128) PRIMARY KEY,
    kind VARCHAR(32) NOT NULL,
    tenant_id VARCHAR(200) NOT NULL,
    user_id VARCHAR(200) NOT NULL,
    key_digest VARCHAR(128) NOT NULL,
    is_admin BIGINT NOT NULL DEFAULT 0,
    created_at DOUBLE NOT NULL,
    expires_at DOUBLE NOT NULL
) CHARACTER SET utf8mb4 COLLATE {collation};
