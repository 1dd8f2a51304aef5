-- What SQLite says in its own words, beside the statements that all engines share
-- (adapters/sql/queries.sql): its text index, and lists that it reads from JSON.

-- search_messages --
SELECT m.* FROM fts_messages JOIN messages m ON m.id = fts_messages.rowid
 WHERE fts_messages MATCH :match
   AND m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.persona_id = :persona_id
   AND m.hidden_at IS NULL AND m.realm = :realm AND (:all_bots OR m.bot_id = :bot_id)
   AND (NOT :only_session OR m.session_id = :session_id)
   AND (:only_app = '' OR m.source_app = :only_app)
 ORDER BY fts_messages.rank LIMIT :limit;

-- By words first (CROSS keeps the order): row by row the index would be searched again and again.
-- search_messages_of --
SELECT m.* FROM fts_messages CROSS JOIN messages m ON m.id = fts_messages.rowid
 WHERE fts_messages MATCH :match AND fts_messages.rowid BETWEEN :first_id AND :last_id
   AND m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.persona_id = :persona_id
   AND m.ts >= :since_ts AND m.ts < :until_ts
   AND m.hidden_at IS NULL AND m.realm = :realm AND (:all_bots OR m.bot_id = :bot_id)
   AND (NOT :only_session OR m.session_id = :session_id)
   AND (:only_app = '' OR m.source_app = :only_app)
 ORDER BY fts_messages.rank LIMIT :limit;

-- search_memory --
-- Best first: FTS5's rank is the smaller the better, so it is turned round. The partition is inside every term of
-- :match; the columns are asked again because isolation must not hang on one mechanism.
SELECT m.*, -fts_memory.rank AS score FROM fts_memory
  JOIN memory_items m ON m.id = fts_memory.rowid
 WHERE fts_memory MATCH :match
   AND {seen}
 ORDER BY fts_memory.rank LIMIT :limit;

-- live_keys --
-- Which of many keys are in use: what a write of many asks first.
SELECT DISTINCT m.mkey FROM json_each(:keys) wanted
 CROSS JOIN memory_items m INDEXED BY memory_by_key
    ON m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.persona_id IN (:persona_id, '')
   AND m.type = :type AND m.mkey = wanted.value
 WHERE m.status IN ('active', 'candidate');

-- seen_memory --
-- Ranking knows them already; who may see them is asked again, here.
-- The ids come first (CROSS JOIN): left to itself, SQLite walks all rows of the user.
SELECT m.* FROM json_each(:ids) wanted CROSS JOIN memory_items m ON m.id = wanted.value
 WHERE {seen};

-- messages_by_id --
SELECT m.* FROM json_each(:ids) wanted CROSS JOIN messages m ON m.id = wanted.value
 WHERE m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.persona_id = :persona_id
   AND m.hidden_at IS NULL AND m.realm = :realm AND (:all_bots OR m.bot_id = :bot_id)
   AND (NOT :only_session OR m.session_id = :session_id)
   AND (:only_app = '' OR m.source_app = :only_app);

-- find_people --
-- The users of a tenant, or one of them, for whoever holds an app key.
SELECT * FROM (
    SELECT u.user_id, u.created_at,
           (SELECT json_extract(m.attributes, '$.value') FROM memory_items m
             WHERE m.tenant_id = u.tenant_id AND m.user_id = u.user_id AND m.core > 0
               AND m.status = 'active' AND m.realm = 'real' AND m.type = 'profile'
               AND m.mkey IN ('basic_info.address', 'basic_info.nickname', 'basic_info.name')
             ORDER BY instr('addr nick name', substr(m.mkey, 12, 4)) LIMIT 1) AS name,
           (SELECT group_concat(DISTINCT s.source_app) FROM sessions s
             WHERE s.tenant_id = u.tenant_id AND s.user_id = u.user_id) AS apps,
           (SELECT count(*) FROM memory_items m
             WHERE m.tenant_id = u.tenant_id AND m.user_id = u.user_id
               AND m.status = 'active') AS memories,
           (SELECT a.ts FROM audit a WHERE a.tenant_id = u.tenant_id AND a.user_id = u.user_id
             ORDER BY a.id DESC LIMIT 1) AS last_seen_at
      FROM users u
     WHERE u.tenant_id = :tenant_id AND (u.user_id = :user_id OR :user_id IS NULL))
 WHERE :text = '' OR instr(lower(user_id), :text) > 0 OR instr(lower(coalesce(name, '')), :text) > 0
 ORDER BY coalesce(last_seen_at, created_at) DESC, user_id LIMIT :limit;
