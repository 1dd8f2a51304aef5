-- Markdown pages that are kept in step with the memories.

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
