-- The web console: who is signed in, one-time links, and when a key was last used.
ALTER TABLE api_keys ADD COLUMN last_used_at REAL;

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
