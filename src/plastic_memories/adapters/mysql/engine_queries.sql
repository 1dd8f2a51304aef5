-- What MySQL and MariaDB say in their own words, beside the statements that all engines share
-- (adapters/sql/queries.sql): here there is no ON CONFLICT. A statement that ends in _for_update
-- takes the place of the one without, inside a write: it locks its rows.

-- lock_writer --
-- Its row is locked until the end of the transaction, whether it is new or not.
INSERT INTO writers (tenant_id, user_id) VALUES (:tenant_id, :user_id)
ON DUPLICATE KEY UPDATE user_id = VALUES(user_id);

-- ensure_user --
INSERT IGNORE INTO users (tenant_id, user_id, created_at, updated_at)
VALUES (:tenant_id, :user_id, :now, :now);

-- ensure_persona --
INSERT IGNORE INTO personas (tenant_id, user_id, persona_id, created_at, updated_at)
VALUES (:tenant_id, :user_id, :persona_id, :now, :now);

-- put_card --
INSERT INTO persona_cards (tenant_id, user_id, persona_id, original, updated_at)
VALUES (:tenant_id, :user_id, :persona_id, :original, :now)
ON DUPLICATE KEY UPDATE original = VALUES(original), updated_at = VALUES(updated_at);

-- heard_again --
-- Also the first time. Each column is changed after those that read it.
INSERT INTO sessions (tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id,
                      waiting, rounds, waiting_since, last_active)
VALUES (:tenant_id, :user_id, :persona_id, :session_id, :bot_id, :source_app, :branch_id,
        :messages, :rounds, CASE WHEN :messages > 0 THEN :now END, :now)
ON DUPLICATE KEY UPDATE
    waiting = waiting + VALUES(waiting), rounds = rounds + VALUES(rounds),
    waiting_since = coalesce(waiting_since, VALUES(waiting_since)),
    last_active = VALUES(last_active),
    ended_at = CASE WHEN VALUES(waiting) > 0 THEN NULL ELSE ended_at END;

-- move_jobs --
-- A session has one open job of each kind: those it has already do the work of these, too.
UPDATE IGNORE jobs SET session_ref = :ref
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_ref = :id;

-- open_job --
INSERT IGNORE INTO jobs (tenant_id, user_id, persona_id, session_ref, task_type, status, "trigger",
                         retry_count, max_retries, created_at, next_try_at)
VALUES (:tenant_id, :user_id, :persona_id, :session_ref, :task_type, :status, :trigger,
        :retry_count, :max_retries, :created_at, :next_try_at);

-- next_revision --
-- Also the first. `removed` comes before the number it is made of.
INSERT INTO recall_partitions (tenant_id, user_id, partition_id, revision)
VALUES (:tenant_id, :user_id, :partition_id, 1)
ON DUPLICATE KEY UPDATE removed = CASE WHEN :removed THEN revision + 1 ELSE removed END,
                        revision = revision + 1;

-- put_entry --
INSERT INTO recall_entries (tenant_id, user_id, partition_id, memory_id, revision, bot_id,
                            branch_id, realm, scope, scope_ref, session_id, speaker, happened_at,
                            expires_at, importance, ageless, terms)
VALUES (:tenant_id, :user_id, :partition_id, :memory_id, :revision, :bot_id,
        :branch_id, :realm, :scope, :scope_ref, :session_id, :speaker, :happened_at,
        :expires_at, :importance, :ageless, :terms)
ON DUPLICATE KEY UPDATE
    revision = VALUES(revision), expires_at = VALUES(expires_at),
    importance = VALUES(importance), ageless = VALUES(ageless),
    vector = CASE WHEN :same_text OR terms = VALUES(terms) THEN vector END,
    terms = VALUES(terms);

-- next_talk_revision --
INSERT INTO talk_partitions (tenant_id, user_id, partition_id, revision)
VALUES (:tenant_id, :user_id, :partition_id, 1)
ON DUPLICATE KEY UPDATE removed = CASE WHEN :removed THEN revision + 1 ELSE removed END,
                        revision = revision + 1;

-- put_talk_entry --
INSERT INTO talk_entries (tenant_id, user_id, partition_id, message_id, revision, bot_id, branch_id,
                          source_app, realm, audience, session_id, role, speaker, happened_at,
                          importance, terms)
VALUES (:tenant_id, :user_id, :partition_id, :message_id, :revision, :bot_id, :branch_id,
        :source_app, :realm, :audience, :session_id, :role, :speaker, :happened_at,
        :importance, :terms)
ON DUPLICATE KEY UPDATE
    revision = VALUES(revision), bot_id = VALUES(bot_id), branch_id = VALUES(branch_id),
    session_id = VALUES(session_id), importance = VALUES(importance),
    vector = CASE WHEN :same_text OR terms = VALUES(terms) THEN vector END,
    terms = VALUES(terms);

-- add_correction --
INSERT IGNORE INTO message_corrections
    (tenant_id, user_id, persona_id, message_id, old_message_id, memory_id)
VALUES (:tenant_id, :user_id, :persona_id, :message_id, :old_message_id, :memory_id);

-- lift_tombstone --
DELETE FROM tombstones
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND (digest = :digest
        OR digest = (SELECT key_digest FROM (
               SELECT key_digest FROM tombstones
                WHERE tenant_id = :tenant_id AND user_id = :user_id
                  AND persona_id = :persona_id AND digest = :digest) held));

-- messages_by_id --
SELECT m.* FROM messages m
 WHERE m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.persona_id = :persona_id
   AND m.id IN :ids
   AND m.hidden_at IS NULL AND m.realm = :realm AND (:all_bots OR m.bot_id = :bot_id)
   AND (NOT :only_session OR m.session_id = :session_id)
   AND (:only_app = '' OR m.source_app = :only_app);

-- find_people --
-- The users of a tenant, or one of them, for whoever holds an app key.
SELECT * FROM (
    SELECT u.user_id, u.created_at,
           (SELECT convert(json_unquote(json_extract(m.attributes, '$.value')) USING utf8mb4)
              FROM memory_items m
             WHERE m.tenant_id = u.tenant_id AND m.user_id = u.user_id AND m.core > 0
               AND m.status = 'active' AND m.realm = 'real' AND m.type = 'profile'
               AND m.mkey IN ('basic_info.address', 'basic_info.nickname', 'basic_info.name')
             ORDER BY instr('addr nick name', substr(m.mkey, 12, 4)) LIMIT 1) AS name,
           (SELECT group_concat(DISTINCT s.source_app SEPARATOR ',') FROM sessions s
             WHERE s.tenant_id = u.tenant_id AND s.user_id = u.user_id) AS apps,
           (SELECT count(*) FROM memory_items m
             WHERE m.tenant_id = u.tenant_id AND m.user_id = u.user_id
               AND m.status = 'active') AS memories,
           (SELECT a.ts FROM audit a WHERE a.tenant_id = u.tenant_id AND a.user_id = u.user_id
             ORDER BY a.id DESC LIMIT 1) AS last_seen_at
      FROM users u
     WHERE u.tenant_id = :tenant_id AND (u.user_id = :user_id OR :user_id IS NULL)) people
 WHERE :text = '' OR instr(lower(user_id), :text) > 0 OR instr(lower(coalesce(name, '')), :text) > 0
 ORDER BY coalesce(last_seen_at, created_at) DESC, user_id LIMIT :limit;

-- live_keys --
SELECT DISTINCT m.mkey FROM memory_items m
 WHERE m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.persona_id IN (:persona_id, '')
   AND m.type = :type AND m.mkey IN :keys AND m.status IN ('active', 'candidate');

-- seen_memory --
-- Ranking knows them already; who may see them is asked again, here.
SELECT m.* FROM memory_items m WHERE m.id IN :ids AND {seen};

-- add_source --
INSERT IGNORE INTO memory_sources (tenant_id, user_id, message_id, memory_id)
VALUES (:tenant_id, :user_id, :message_id, :memory_id);

-- note_erasure --
INSERT IGNORE INTO erasures (tenant_id, user_id, persona_id, kind, row_id, erased_at)
VALUES (:tenant_id, :user_id, :persona_id, :kind, :row_id, :now);

-- put_slot --
INSERT INTO persona_slots (tenant_id, user_id, persona_id, bot_id, realm, slot_name, value_json,
                           provenance_json, updated_at)
VALUES (:tenant_id, :user_id, :persona_id, :bot_id, :realm, :slot_name, :value_json,
        :provenance_json, :updated_at)
ON DUPLICATE KEY UPDATE value_json = VALUES(value_json),
                        provenance_json = VALUES(provenance_json),
                        updated_at = VALUES(updated_at);

-- add_tombstone --
INSERT IGNORE INTO tombstones (tenant_id, user_id, persona_id, digest, key_digest, created_at)
VALUES (:tenant_id, :user_id, :persona_id, :digest, :key_digest, :now);

-- set_meta --
INSERT INTO meta ("key", value) VALUES (:key, :value)
ON DUPLICATE KEY UPDATE value = VALUES(value);

-- due_memories_for_update --
-- Waits for whoever ends them already: after this, no expired memory is called active.
SELECT * FROM memory_items
 WHERE expires_at IS NOT NULL AND expires_at <= :now AND status IN ('active', 'candidate')
 ORDER BY expires_at LIMIT :limit
   FOR UPDATE;

-- due_jobs_for_update --
SELECT * FROM jobs
 WHERE status IN ('pending', 'failed', 'processing') AND next_try_at <= :now
 ORDER BY next_try_at, id LIMIT :limit
   FOR UPDATE SKIP LOCKED;

-- due_jobs_by_turns_for_update --
SELECT * FROM jobs j
 WHERE status IN ('pending', 'failed', 'processing') AND next_try_at <= :now
   AND (tenant_id, user_id) > (:after_tenant, :after_user)
   AND (:only = '' OR task_type = :only)
   AND (task_type = 'profile' OR NOT EXISTS (
       SELECT 1 FROM jobs b
        WHERE b.tenant_id = j.tenant_id AND b.user_id = j.user_id AND b.persona_id = j.persona_id
          AND b.session_ref = j.session_ref AND b.status = 'processing' AND b.next_try_at > :now
          AND b.status IN ('pending', 'failed', 'processing')))
 ORDER BY tenant_id, user_id, next_try_at, id LIMIT :limit
   FOR UPDATE SKIP LOCKED;

-- get_job_for_update --
SELECT * FROM jobs WHERE tenant_id = :tenant_id AND user_id = :user_id AND id = :id
   FOR UPDATE;

-- the_open_job_for_update --
SELECT * FROM jobs
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_ref = :session_ref AND task_type = :task_type
   AND status IN ('pending', 'failed', 'processing')
   FOR UPDATE;

-- adopt_messages --
INSERT INTO sessions (tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id,
                      waiting, rounds, waiting_since, last_active)
SELECT tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id,
       count(*), sum(CASE WHEN role = 'user' THEN 1 ELSE 0 END), :now, max(created_at)
  FROM messages
 GROUP BY tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id
ON DUPLICATE KEY UPDATE
    waiting = (SELECT count(*) FROM messages m
                WHERE m.tenant_id = sessions.tenant_id AND m.user_id = sessions.user_id
                  AND m.persona_id = sessions.persona_id
                  AND m.session_id = sessions.session_id AND m.bot_id = sessions.bot_id
                  AND m.source_app = sessions.source_app
                  AND m.branch_id = sessions.branch_id AND m.id > sessions.watermark),
    waiting_since = coalesce(sessions.waiting_since, VALUES(waiting_since));

-- keep_page_folder --
INSERT INTO page_folders (tenant_id, user_id, persona_id, kept_for, stamp, audit_id)
VALUES (:tenant_id, :user_id, :persona_id, :kept_for, :stamp, :audit_id)
ON DUPLICATE KEY UPDATE kept_for = VALUES(kept_for), stamp = VALUES(stamp),
                        audit_id = VALUES(audit_id);

-- keep_pages_of_personas --
INSERT IGNORE INTO page_folders (tenant_id, user_id, persona_id, kept_for)
SELECT tenant_id, user_id, persona_id, persona_id FROM personas;

-- keep_pages_of_users --
INSERT IGNORE INTO page_folders (tenant_id, user_id, persona_id, kept_for)
SELECT tenant_id, user_id, '', :kept_for FROM users;

-- put_page_line --
INSERT INTO page_lines (tenant_id, user_id, persona_id, root_id, digest)
VALUES (:tenant_id, :user_id, :persona_id, :root_id, :digest)
ON DUPLICATE KEY UPDATE digest = VALUES(digest);

-- mute_page_line --
INSERT IGNORE INTO page_mutes (tenant_id, user_id, digest, created_at)
VALUES (:tenant_id, :user_id, :digest, :now);

