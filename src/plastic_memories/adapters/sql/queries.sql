-- Statements that every SQL engine understands, each under its name. What an engine must say in
-- words of its own stands in its `engine_queries.sql`, and wins over a statement here of that name.
-- Every one that touches what belongs to someone names tenant and user; upkeep (the last section) is
-- the server's own and says so: none of its parameters is called tenant_id together with user_id.
-- {memory_columns} and the like are lists of columns that follow from the model (adapters/sql/rows.py).

-- ensure_user --
INSERT INTO users (tenant_id, user_id, created_at, updated_at)
VALUES (:tenant_id, :user_id, :now, :now)
ON CONFLICT (tenant_id, user_id) DO NOTHING;

-- get_user --
SELECT id, time_zone, language, updated_at FROM users
 WHERE tenant_id = :tenant_id AND user_id = :user_id;

-- save_settings --
UPDATE users SET time_zone = :time_zone, language = :language, updated_at = :updated_at
 WHERE tenant_id = :tenant_id AND user_id = :user_id;

-- ensure_persona --
INSERT INTO personas (tenant_id, user_id, persona_id, created_at, updated_at)
VALUES (:tenant_id, :user_id, :persona_id, :now, :now)
ON CONFLICT (tenant_id, user_id, persona_id) DO NOTHING;

-- get_persona --
SELECT id, persona_id, display_name, description, created_at, updated_at FROM personas
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id;

-- all_personas --
SELECT id, persona_id, display_name, description, created_at, updated_at FROM personas
 WHERE tenant_id = :tenant_id AND user_id = :user_id ORDER BY id;

-- holdings --
-- Of one user, or (for an app key) of every user of the tenant.
SELECT p.user_id, p.persona_id, m.session_id, m.source_app, count(m.id) AS memories,
       coalesce(min(m.created_at), p.created_at) AS first_at,
       coalesce(max(m.updated_at), p.updated_at) AS last_at
  FROM personas p LEFT JOIN memory_items m
    ON m.tenant_id = p.tenant_id AND m.user_id = p.user_id AND m.persona_id IN (p.persona_id, '')
   AND m.status = 'active' AND m.bot_id = '' AND m.realm = 'real'
   AND (m.expires_at IS NULL OR m.expires_at > :now)
   AND (:only_app = '' OR m.scope IN ('persona', 'global') OR m.source_app = :only_app)
 WHERE p.tenant_id = :tenant_id AND (p.user_id = :user_id OR :user_id IS NULL)
 GROUP BY p.user_id, p.persona_id, p.created_at, p.updated_at, m.session_id, m.source_app
 ORDER BY p.user_id, p.persona_id, m.session_id, m.source_app;

-- save_persona --
UPDATE personas
   SET display_name = :display_name, description = :description, updated_at = :updated_at
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id;

-- get_card --
SELECT original FROM persona_cards
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id;

-- put_card --
INSERT INTO persona_cards (tenant_id, user_id, persona_id, original, updated_at)
VALUES (:tenant_id, :user_id, :persona_id, :original, :now)
ON CONFLICT (tenant_id, user_id, persona_id)
DO UPDATE SET original = excluded.original, updated_at = excluded.updated_at;

-- drop_card --
DELETE FROM persona_cards
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id;

-- add_message --
INSERT INTO messages ({message_columns}) VALUES ({message_values});

-- known_message --
SELECT id FROM messages
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND bot_id = :bot_id AND source_app = :source_app AND session_id = :session_id
   AND client_msg_id = :client_msg_id AND client_msg_id <> '';

-- edit_message --
UPDATE messages SET content = :content, hidden_at = :hidden_at, hidden_spans = :hidden_spans
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- move_message --
UPDATE messages
   SET bot_id = :bot_id, session_id = :session_id, client_msg_id = :client_msg_id,
       platform = :platform, message_type = :message_type
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- hide_messages --
UPDATE messages SET hidden_at = :now
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND {id_among_ids};

-- set_message_visibility --
UPDATE messages SET hidden_at = :hidden_at, hidden_spans = :hidden_spans
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- drop_messages --
DELETE FROM messages
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND {id_among_ids};

-- drop_corrected --
DELETE FROM message_corrections
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND {old_message_id_among_ids};

-- add_correction --
INSERT INTO message_corrections
    (tenant_id, user_id, persona_id, message_id, old_message_id, memory_id)
VALUES (:tenant_id, :user_id, :persona_id, :message_id, :old_message_id, :memory_id)
ON CONFLICT DO NOTHING;

-- corrections_by --
SELECT message_id, old_message_id, memory_id FROM message_corrections
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND {message_id_among_ids};

-- corrections_of --
SELECT message_id, old_message_id FROM message_corrections
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND old_message_id > 0 AND {old_message_id_among_ids};

-- newest_corrections --
SELECT c.old_message_id, m.* FROM message_corrections c JOIN messages m ON m.id = c.message_id
 WHERE c.tenant_id = :tenant_id AND c.user_id = :user_id AND c.persona_id = :persona_id
   AND m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.persona_id = :persona_id
   AND c.old_message_id > 0 AND m.hidden_at IS NULL
 ORDER BY c.message_id DESC LIMIT :limit;

-- remove_corrections --
DELETE FROM message_corrections
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND {message_id_among_ids};

-- recent_messages --
SELECT * FROM messages
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND ts >= :since_ts AND ts < :until_ts AND hidden_at IS NULL AND realm = :realm
   AND (:all_bots OR bot_id = :bot_id)
   AND (NOT :only_session OR session_id = :session_id)
   AND (:only_app = '' OR source_app = :only_app)
 ORDER BY ts DESC, id DESC LIMIT :limit;

-- count_messages --
SELECT count(*) AS n FROM (
    SELECT 1 FROM messages
     WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
     LIMIT :limit) few;

-- The ids between which all messages of a time lie: the index is then read only there.
-- ids_between --
SELECT min(id) AS first_id, max(id) AS last_id FROM messages
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND ts >= :since_ts AND ts < :until_ts;

-- last_heard --
SELECT message_type, speaker FROM messages
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_id = :session_id AND role = 'user'
 ORDER BY id DESC LIMIT 1;

-- said_before --
SELECT * FROM messages
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_id = :session_id AND id < :id
   AND hidden_at IS NULL AND realm = :realm AND (:all_bots OR bot_id = :bot_id)
   AND (:only_app = '' OR source_app = :only_app)
 ORDER BY id DESC LIMIT 1;

-- said_after --
SELECT * FROM messages
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_id = :session_id AND id > :id
   AND hidden_at IS NULL AND realm = :realm AND (:all_bots OR bot_id = :bot_id)
   AND (:only_app = '' OR source_app = :only_app)
 ORDER BY id LIMIT 1;

-- Three statements in place of one with RETURNING, which makes a table for its rows each time.
-- heard_first --
INSERT INTO sessions (tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id,
                      waiting, rounds, waiting_since, last_active)
VALUES (:tenant_id, :user_id, :persona_id, :session_id, :bot_id, :source_app, :branch_id,
        :messages, :rounds, CASE WHEN :messages > 0 THEN :now END, :now);

-- heard_again --
UPDATE sessions
   SET waiting = waiting + :messages, rounds = rounds + :rounds,
       waiting_since = coalesce(waiting_since, CASE WHEN :messages > 0 THEN :now END),
       last_active = :now,
       ended_at = CASE WHEN :messages > 0 THEN NULL ELSE ended_at END
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_id = :session_id AND bot_id = :bot_id AND source_app = :source_app
   AND branch_id = :branch_id;

-- session_at --
SELECT * FROM sessions
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_id = :session_id AND bot_id = :bot_id AND source_app = :source_app
   AND branch_id = :branch_id;

-- find_sessions --
SELECT * FROM sessions
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND (session_id = :session_id OR :session_id IS NULL)
   AND (bot_id = :bot_id OR :bot_id IS NULL)
   AND (source_app = :source_app OR :source_app IS NULL)
   AND (branch_id = :branch_id OR :branch_id IS NULL)
 ORDER BY last_active DESC, id DESC;

-- get_session --
SELECT * FROM sessions
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- save_session --
UPDATE sessions
   SET realm = :realm, watermark = :watermark, waiting = :waiting, rounds = :rounds,
       waiting_since = :waiting_since, last_active = :last_active, ended_at = :ended_at,
       archive_path = :archive_path, archived_upto = :archived_upto
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- move_session --
UPDATE sessions SET bot_id = :bot_id, session_id = :session_id
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- move_branches --
UPDATE branches SET session_id = :session_id
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_id = :was;

-- move_jobs --
-- A session has one open job of each kind: those it has already do the work of these, too.
UPDATE jobs SET session_ref = :ref
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_ref = :id
   AND (status NOT IN ('pending', 'failed', 'processing')
        OR task_type NOT IN (
            SELECT there.task_type FROM jobs there
             WHERE there.tenant_id = :tenant_id AND there.user_id = :user_id
               AND there.persona_id = :persona_id AND there.session_ref = :ref
               AND there.status IN ('pending', 'failed', 'processing')));

-- drop_jobs --
DELETE FROM jobs
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_ref = :id;

-- drop_jobs_of_user --
DELETE FROM jobs
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND task_type <> 'erase_user';

-- drop_session --
DELETE FROM sessions
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- session_realm --
SELECT realm FROM sessions
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_id = :session_id AND bot_id = :bot_id AND realm <> '' LIMIT 1;

-- messages_after --
SELECT * FROM messages
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_id = :session_id AND id > :after
   AND bot_id = :bot_id AND source_app = :source_app AND branch_id = :branch_id
   AND hidden_at IS NULL
 ORDER BY id LIMIT :limit;

-- add_branch --
INSERT INTO branches (tenant_id, user_id, persona_id, session_id, branch_id, parent_id,
                      from_message_id, created_at)
VALUES (:tenant_id, :user_id, :persona_id, :session_id, :branch_id, :parent_id,
        :from_message_id, :created_at);

-- all_branches --
SELECT * FROM branches
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
 ORDER BY created_at, branch_id;

-- drop_branches --
DELETE FROM branches
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_id = :session_id;

-- open_job --
INSERT INTO jobs (tenant_id, user_id, persona_id, session_ref, task_type, status, "trigger",
                  retry_count, max_retries, created_at, next_try_at)
VALUES (:tenant_id, :user_id, :persona_id, :session_ref, :task_type, :status, :trigger,
        :retry_count, :max_retries, :created_at, :next_try_at)
ON CONFLICT DO NOTHING;

-- the_open_job --
SELECT * FROM jobs
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_ref = :session_ref AND task_type = :task_type
   AND status IN ('pending', 'failed', 'processing');

-- save_job --
UPDATE jobs
   SET status = :status, "trigger" = :trigger, retry_count = :retry_count,
       error_message = :error_message, started_at = :started_at, completed_at = :completed_at,
       next_try_at = :next_try_at, lease_owner = :lease_owner, memory_ids = :memory_ids
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- get_job --
SELECT * FROM jobs WHERE tenant_id = :tenant_id AND user_id = :user_id AND id = :id;

-- find_jobs --
SELECT * FROM jobs j
 WHERE tenant_id = :tenant_id AND user_id = :user_id
   AND (status = :status OR :status IS NULL)
   AND (:only_app = '' OR EXISTS (
       SELECT 1 FROM sessions s
        WHERE s.tenant_id = j.tenant_id AND s.user_id = j.user_id AND s.persona_id = j.persona_id
          AND s.id = j.session_ref AND s.source_app = :only_app))
 ORDER BY id DESC LIMIT :limit;

-- get_memory --
SELECT * FROM memory_items
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id IN (:persona_id, '') AND id = :id;

-- add_memory --
INSERT INTO memory_items ({memory_columns}) VALUES ({memory_values});

-- save_memory --
UPDATE memory_items SET {memory_changes}
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- redact_memory --
UPDATE memory_items
   SET mkey = :mkey, content = :content, quote = :quote, tags = :tags, metadata = :metadata,
       attributes = :attributes, idempotency_key = :idempotency_key
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id
   AND status NOT IN ('active', 'candidate');

-- move_memory --
UPDATE memory_items
   SET bot_id = :bot_id, session_id = :session_id, scope_ref = :scope_ref, status = :status,
       idempotency_key = :idempotency_key, updated_at = :updated_at
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- erase_memory --
DELETE FROM memory_items
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- touch_memory --
UPDATE memory_items SET last_recalled_at = :now, recall_count = recall_count + 1
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- in_session --
-- Not a statement: what a reader of one session only may see, wherever {in_session} stands. What
-- was said in two sessions belongs to both; what was never said in any, to all.
(NOT :only_session OR m.session_id IN ('', :session_id)
        OR EXISTS (SELECT 1 FROM memory_sources s JOIN messages t ON t.id = s.message_id
                    WHERE s.tenant_id = :tenant_id AND s.user_id = :user_id AND s.memory_id = m.id
                      AND t.tenant_id = :tenant_id AND t.user_id = :user_id
                      AND t.session_id = :session_id))

-- core_memories --
-- Own rows of the realm; of every persona, real constraints and the name (core = 2). A narrow
-- scope is left out: what is always recalled must not depend on the session or the app. What waits
-- for a yes is told, and marked so, if it is a limit or a wish in the user's own words.
SELECT * FROM memory_items AS m {use_memory_core}
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND core > 0
   AND status IN ('active', 'candidate')
   AND (status = 'active'
        OR (source_type = 'user_explicit' AND speaker = ''
            AND (type = 'constraints'
                 OR (type = 'profile' AND (substr(mkey, 1, 11) = 'constraint.'
                                           OR substr(mkey, 1, 17) = 'preference.style.'
                                           OR substr(mkey, 1, 17) = 'preference.reply_')))))
   AND scope IN ('persona', 'global')
   AND ((persona_id IN (:persona_id, '') AND realm = :realm) OR (core = 2 AND realm = 'real'))
   AND (:all_bots OR bot_id = :bot_id)
   AND (expires_at IS NULL OR expires_at > :now)
   AND {in_session}
 ORDER BY id;

-- seen --
-- Not a statement: the rows that exist for a reader, wherever {seen} stands.
m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.status = 'active'
   AND (m.expires_at IS NULL OR m.expires_at > :now)
   AND (:all_bots OR m.bot_id = :bot_id)
   AND m.realm = :realm
   AND {in_session}
   AND (:only_app = '' OR m.scope IN ('persona', 'global') OR m.source_app = :only_app)
   AND ((m.persona_id = :persona_id
         AND (m.scope IN ('persona', 'global')
              OR (m.scope_ref <> '' AND m.scope = 'session' AND m.scope_ref = :session_id)
              OR (m.scope_ref <> '' AND m.scope = 'app' AND m.scope_ref = :source_app)))
        OR (m.scope = 'global' AND m.realm = 'real'))

-- count_active --
SELECT count(*) AS n FROM (
    SELECT 1 FROM memory_items
     WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
       AND status = 'active' LIMIT :limit) few;

-- same_place --
-- What a write may replace or repeat: the live rows of one key, scope, bot and realm.
SELECT * FROM memory_items {use_memory_by_key}
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id IN (:persona_id, '')
   AND type = :type AND mkey = :mkey AND bot_id = :bot_id AND realm = :realm
   AND scope = :scope AND scope_ref = :scope_ref AND branch_id = :branch_id
   AND status IN ('active', 'candidate');

-- scan_memory --
-- The same rows without the index: their terms are compared outside.
SELECT m.* FROM memory_items m
 WHERE {seen}
 ORDER BY m.id DESC LIMIT :limit;

-- ids_in_session --
SELECT m.id FROM memory_items m
 WHERE m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.status = 'active'
   AND {in_session};

-- get_partition --
SELECT revision, removed FROM recall_partitions
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id;

-- first_revision --
INSERT INTO recall_partitions (tenant_id, user_id, partition_id, revision)
VALUES (:tenant_id, :user_id, :partition_id, 1);

-- next_revision --
UPDATE recall_partitions
   SET revision = revision + 1, removed = CASE WHEN :removed THEN revision + 1 ELSE removed END
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id;

-- put_entry --
INSERT INTO recall_entries (tenant_id, user_id, partition_id, memory_id, revision, bot_id,
                            branch_id, realm, scope, scope_ref, session_id, speaker, happened_at,
                            expires_at, importance, ageless, terms)
VALUES (:tenant_id, :user_id, :partition_id, :memory_id, :revision, :bot_id,
        :branch_id, :realm, :scope, :scope_ref, :session_id, :speaker, :happened_at,
        :expires_at, :importance, :ageless, :terms)
ON CONFLICT (tenant_id, user_id, partition_id, memory_id)
DO UPDATE SET revision = excluded.revision, expires_at = excluded.expires_at,
              importance = excluded.importance, ageless = excluded.ageless,
              vector = CASE WHEN :same_text OR recall_entries.terms = excluded.terms
                            THEN recall_entries.vector END,
              terms = excluded.terms;

-- remove_entry --
DELETE FROM recall_entries
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id
   AND memory_id = :memory_id;

-- changed_entries --
SELECT memory_id, bot_id, branch_id, realm, scope, scope_ref, session_id, speaker, happened_at,
       expires_at, importance, ageless, terms, vector
  FROM recall_entries
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id
   AND revision > :known;

-- present_entries --
SELECT memory_id FROM recall_entries {use_recall_by_revision}
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id;

-- put_vector --
-- Only where the entry still is, with the same words, and has none.
UPDATE recall_entries SET vector = :vector, revision = :revision
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id
   AND memory_id = :entry_id AND vector IS NULL AND terms = :terms;

-- clear_vector --
UPDATE recall_entries SET vector = NULL, revision = :revision
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id
   AND memory_id = :entry_id;

-- get_talk_partition --
SELECT revision, removed FROM talk_partitions
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id;

-- first_talk_revision --
INSERT INTO talk_partitions (tenant_id, user_id, partition_id, revision)
VALUES (:tenant_id, :user_id, :partition_id, 1);

-- next_talk_revision --
UPDATE talk_partitions
   SET revision = revision + 1, removed = CASE WHEN :removed THEN revision + 1 ELSE removed END
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id;

-- put_talk_entry --
INSERT INTO talk_entries (tenant_id, user_id, partition_id, message_id, revision, bot_id, branch_id,
                          source_app, realm, audience, session_id, role, speaker, happened_at,
                          importance, terms)
VALUES (:tenant_id, :user_id, :partition_id, :message_id, :revision, :bot_id, :branch_id,
        :source_app, :realm, :audience, :session_id, :role, :speaker, :happened_at,
        :importance, :terms)
ON CONFLICT (tenant_id, user_id, partition_id, message_id)
DO UPDATE SET revision = excluded.revision, bot_id = excluded.bot_id,
              branch_id = excluded.branch_id, session_id = excluded.session_id,
              importance = excluded.importance,
              vector = CASE WHEN :same_text OR talk_entries.terms = excluded.terms
                            THEN talk_entries.vector END,
              terms = excluded.terms;

-- move_talk_entry --
UPDATE talk_entries SET revision = :revision, bot_id = :bot_id, session_id = :session_id
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id
   AND message_id = :message_id;

-- remove_talk_entries --
DELETE FROM talk_entries
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id
   AND {message_id_among_ids};

-- count_talk_changes --
SELECT count(*) AS n FROM (
    SELECT 1 FROM talk_entries {use_talk_by_revision}
     WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id
       AND revision > :known LIMIT :limit) few;

-- changed_talk_entries --
SELECT message_id, bot_id, source_app, realm, audience, session_id, role, speaker, happened_at,
       importance, terms, vector
  FROM talk_entries
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id
   AND revision > :known;

-- present_talk_entries --
SELECT message_id FROM talk_entries {use_talk_by_revision}
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id;

-- put_talk_vector --
UPDATE talk_entries SET vector = :vector, revision = :revision
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id
   AND message_id = :entry_id AND vector IS NULL AND terms = :terms;

-- clear_talk_vector --
UPDATE talk_entries SET vector = NULL, revision = :revision
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND partition_id = :partition_id
   AND message_id = :entry_id;

-- add_source --
INSERT INTO memory_sources (tenant_id, user_id, message_id, memory_id)
VALUES (:tenant_id, :user_id, :message_id, :memory_id) ON CONFLICT DO NOTHING;

-- erase_sources --
DELETE FROM memory_sources
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND memory_id = :id;

-- erase_links_to --
DELETE FROM goal_links
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND memory_id = :id;

-- note_erasure --
INSERT INTO erasures (tenant_id, user_id, persona_id, kind, row_id, erased_at)
VALUES (:tenant_id, :user_id, :persona_id, :kind, :row_id, :now) ON CONFLICT DO NOTHING;

-- erased_among --
SELECT row_id FROM erasures
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND kind = :kind AND {row_id_among_ids};

-- set_sources --
UPDATE memory_items SET source_message_ids = :source_message_ids
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- all_slots --
SELECT * FROM persona_slots
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND (:all_bots OR bot_id = :bot_id) AND realm = :realm
 ORDER BY slot_name;

-- put_slot --
INSERT INTO persona_slots (tenant_id, user_id, persona_id, bot_id, realm, slot_name, value_json,
                           provenance_json, updated_at)
VALUES (:tenant_id, :user_id, :persona_id, :bot_id, :realm, :slot_name, :value_json,
        :provenance_json, :updated_at)
ON CONFLICT (tenant_id, user_id, persona_id, bot_id, realm, slot_name)
DO UPDATE SET value_json = excluded.value_json, provenance_json = excluded.provenance_json,
              updated_at = excluded.updated_at;

-- clear_slot --
DELETE FROM persona_slots
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND bot_id = :bot_id AND realm = :realm AND slot_name = :slot_name;

-- has_tombstones --
SELECT 1 AS x FROM tombstones
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id IN (:persona_id, '') LIMIT 1;

-- add_tombstone --
INSERT INTO tombstones (tenant_id, user_id, persona_id, digest, key_digest, created_at)
VALUES (:tenant_id, :user_id, :persona_id, :digest, :key_digest, :now) ON CONFLICT DO NOTHING;

-- covering_tombstones --
SELECT count(*) AS n FROM tombstones
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id IN (:persona_id, '')
   AND {digest_among_digests};

-- list_tombstones --
-- What is never to be learned again, one row for each mark of a value.
SELECT digest, key_digest, created_at FROM tombstones
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND digest <> key_digest
 ORDER BY created_at DESC, digest LIMIT :limit;

-- lift_tombstone --
DELETE FROM tombstones
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND (digest = :digest
        OR digest = (SELECT key_digest FROM tombstones
                      WHERE tenant_id = :tenant_id AND user_id = :user_id
                        AND persona_id = :persona_id AND digest = :digest));

-- lift_tombstones --
DELETE FROM tombstones
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id IN (:persona_id, '')
   AND ({digest_among_digests} OR key_digest = :key_digest);

-- add_pending_forget --
INSERT INTO pending_forgets (tenant_id, user_id, persona_id, message_id, status, requested_at,
                             final_at, changes)
VALUES (:tenant_id, :user_id, :persona_id, :message_id, :status, :requested_at, :final_at,
        :changes);

-- save_pending_forget --
UPDATE pending_forgets SET status = :status, final_at = :final_at, changes = :changes
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- get_pending_forget --
SELECT * FROM pending_forgets
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- find_pending_forgets --
SELECT * FROM pending_forgets
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND (message_id = :message_id OR :message_id IS NULL)
 ORDER BY id DESC;

-- add_goal --
INSERT INTO goals (tenant_id, user_id, persona_id, title, details, status, created_at, updated_at)
VALUES (:tenant_id, :user_id, :persona_id, :title, :details, :status, :created_at, :updated_at);

-- find_goals --
SELECT * FROM goals
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND (status = :status OR :status IS NULL) AND (id = :id OR :id IS NULL)
 ORDER BY id;

-- save_goal --
UPDATE goals SET title = :title, details = :details, status = :status, updated_at = :updated_at
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id AND id = :id;

-- add_goal_link --
INSERT INTO goal_links (tenant_id, user_id, persona_id, goal_id, memory_id, note, created_at)
VALUES (:tenant_id, :user_id, :persona_id, :goal_id, :memory_id, :note, :created_at);

-- goal_links --
SELECT * FROM goal_links
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND {goal_id_among_goal_ids}
 ORDER BY id;

-- record_event --
INSERT INTO audit (tenant_id, user_id, persona_id, event, memory_id, key_label, request_id, ts,
                   data)
VALUES (:tenant_id, :user_id, :persona_id, :event, :memory_id, :key_label, :request_id, :ts,
        :data);

-- of_app --
-- Not a statement: the lines that a reader of one app may see, wherever {of_app} stands. A line that
-- names no app is about what all apps share.
(:only_app = '' OR coalesce({app_of_data}, :only_app) = :only_app)

-- find_events --
SELECT * FROM audit
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND id > :after_id AND ts >= :since
   AND {of_app}
 ORDER BY id LIMIT :limit;

-- find_events_of --
SELECT * FROM audit {use_audit_by_memory}
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND memory_id = :memory_id
   AND id > :after_id AND ts >= :since
   AND {of_app}
 ORDER BY id LIMIT :limit;

-- Keys come before any tenant is known: the digest is what names the tenant.

-- add_key --
INSERT INTO api_keys (digest, tenant_id, user_id, label, limits, created_at)
VALUES (:digest, :tenant_id, :user_id, :label, :limits, :created_at);

-- key_by_digest --
SELECT * FROM api_keys WHERE digest = :digest;

-- all_keys --
SELECT * FROM api_keys ORDER BY id;

-- revoke_key --
UPDATE api_keys SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL;

-- mark_key_used --
UPDATE api_keys SET last_used_at = :now WHERE digest = :digest;

-- A session of the console is found by its digest, as a key is.

-- add_console_session --
INSERT INTO console_sessions
       (digest, kind, tenant_id, user_id, key_digest, is_admin, created_at, expires_at)
VALUES (:digest, :kind, :tenant_id, :user_id, :key_digest, :is_admin, :created_at, :expires_at);

-- find_console_session --
SELECT * FROM console_sessions
 WHERE digest = :digest AND kind = :kind AND expires_at > :now;

-- remove_console_session --
DELETE FROM console_sessions WHERE digest = :digest;

-- remove_console_sessions_of_key --
DELETE FROM console_sessions WHERE key_digest = :key_digest;

-- remove_expired_console_sessions --
DELETE FROM console_sessions WHERE expires_at <= :now;

-- The installation's own notes belong to nobody.

-- get_meta --
SELECT value FROM meta WHERE "key" = :key;

-- set_meta --
INSERT INTO meta ("key", value) VALUES (:key, :value)
ON CONFLICT ("key") DO UPDATE SET value = excluded.value;

-- drop_meta --
DELETE FROM meta WHERE "key" = :key;

-- Upkeep: the server's own work, over all owners.

-- first_end --
-- Asked before every group of writes, so it must cost next to nothing.
SELECT expires_at FROM memory_items
 WHERE expires_at IS NOT NULL AND status IN ('active', 'candidate') ORDER BY expires_at LIMIT 1;

-- owners_of_due_forgets --
SELECT DISTINCT tenant_id, user_id, persona_id FROM pending_forgets
 WHERE status = 'pending' AND final_at <= :now LIMIT :limit;

-- due_memories --
SELECT * FROM memory_items
 WHERE expires_at IS NOT NULL AND expires_at <= :now AND status IN ('active', 'candidate')
 ORDER BY expires_at LIMIT :limit;

-- owners_after --
SELECT id, tenant_id, user_id, persona_id FROM personas
 WHERE id > :after ORDER BY id LIMIT :limit;

-- due_jobs --
SELECT * FROM jobs
 WHERE status IN ('pending', 'failed', 'processing') AND next_try_at <= :now
 ORDER BY next_try_at, id LIMIT :limit;

-- due_jobs_by_turns --
-- One user after another; what is due in a session that is being worked on waits.
SELECT * FROM jobs j
 WHERE status IN ('pending', 'failed', 'processing') AND next_try_at <= :now
   AND (tenant_id, user_id) > (:after_tenant, :after_user)
   AND (:only = '' OR task_type = :only)
   AND (task_type = 'profile' OR NOT EXISTS (
       SELECT 1 FROM jobs b
        WHERE b.tenant_id = j.tenant_id AND b.user_id = j.user_id AND b.persona_id = j.persona_id
          AND b.session_ref = j.session_ref AND b.status = 'processing' AND b.next_try_at > :now
          AND b.status IN ('pending', 'failed', 'processing')))
 ORDER BY tenant_id, user_id, next_try_at, id LIMIT :limit;

-- quiet_sessions --
SELECT s.* FROM sessions s
 WHERE s.waiting > 0 AND (s.last_active <= :idle_before OR s.waiting_since <= :waiting_before)
   AND NOT EXISTS (
       SELECT 1 FROM jobs j
        WHERE j.tenant_id = s.tenant_id AND j.user_id = s.user_id AND j.persona_id = s.persona_id
          AND j.session_ref = s.id AND j.task_type NOT IN ('archive', 'profile')
          AND (j.status IN ('pending', 'failed', 'processing')
               OR (j.status = 'dead' AND j.completed_at >= s.last_active)))
 ORDER BY s.last_active LIMIT :limit;

-- unarchived_old --
SELECT DISTINCT s.* FROM messages m
  JOIN sessions s
    ON s.tenant_id = m.tenant_id AND s.user_id = m.user_id AND s.persona_id = m.persona_id
   AND s.session_id = m.session_id AND s.bot_id = m.bot_id AND s.source_app = m.source_app
   AND s.branch_id = m.branch_id
 WHERE m.ts < :before_ts AND s.archived_upto < m.id
   AND NOT EXISTS (
       SELECT 1 FROM jobs j
        WHERE j.tenant_id = s.tenant_id AND j.user_id = s.user_id AND j.persona_id = s.persona_id
          AND j.session_ref = s.id AND j.status = 'dead' AND j.completed_at >= s.last_active)
 LIMIT :limit;

-- unarchived_crowd --
SELECT s.* FROM sessions s
  JOIN (SELECT tenant_id, user_id, persona_id FROM messages
         GROUP BY tenant_id, user_id, persona_id HAVING count(*) > :max) c
    ON c.tenant_id = s.tenant_id AND c.user_id = s.user_id AND c.persona_id = s.persona_id
 WHERE (s.waiting > 0 OR s.archived_upto < s.watermark)
   AND NOT EXISTS (
       SELECT 1 FROM jobs j
        WHERE j.tenant_id = s.tenant_id AND j.user_id = s.user_id AND j.persona_id = s.persona_id
          AND j.session_ref = s.id AND j.status = 'dead' AND j.completed_at >= s.last_active)
 LIMIT :limit;

-- queue_depth --
SELECT tenant_id, sum(CASE WHEN status <> 'dead' THEN 1 ELSE 0 END) AS waiting,
       sum(CASE WHEN status = 'dead' THEN 1 ELSE 0 END) AS dead,
       min(CASE WHEN status <> 'dead' THEN created_at END) AS oldest
  FROM jobs WHERE status <> 'completed' GROUP BY tenant_id;

-- reconcile --
-- A message stands somewhere if its session has digested it, waits, or was given up.
SELECT count(*) AS messages,
       coalesce(sum(CASE WHEN m.id <= s.watermark THEN 1 ELSE 0 END), 0) AS digested,
       coalesce(sum(CASE WHEN m.id > s.watermark AND d.session_ref IS NOT NULL THEN 1 ELSE 0 END),
                0) AS dead,
       coalesce(sum(CASE WHEN m.id > s.watermark AND d.session_ref IS NULL AND s.waiting > 0
                         THEN 1 ELSE 0 END), 0) AS waiting,
       coalesce(sum(CASE WHEN s.id IS NULL THEN 1 ELSE 0 END), 0) AS unclaimed
  FROM messages m
  LEFT JOIN sessions s
    ON s.tenant_id = m.tenant_id AND s.user_id = m.user_id AND s.persona_id = m.persona_id
   AND s.session_id = m.session_id AND s.bot_id = m.bot_id AND s.source_app = m.source_app
   AND s.branch_id = m.branch_id
  LEFT JOIN (SELECT DISTINCT tenant_id, user_id, session_ref FROM jobs
              WHERE status = 'dead' AND task_type NOT IN ('archive', 'profile')) d
    ON d.tenant_id = s.tenant_id AND d.user_id = s.user_id AND d.session_ref = s.id
 WHERE m.hidden_at IS NULL;

-- adopt_messages --
INSERT INTO sessions (tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id,
                      waiting, rounds, waiting_since, last_active)
SELECT tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id,
       count(*), sum(CASE WHEN role = 'user' THEN 1 ELSE 0 END), :now, max(created_at)
  FROM messages WHERE true
 GROUP BY tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id
ON CONFLICT (tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id)
DO UPDATE SET waiting = (
                  SELECT count(*) FROM messages m
                   WHERE m.tenant_id = sessions.tenant_id AND m.user_id = sessions.user_id
                     AND m.persona_id = sessions.persona_id
                     AND m.session_id = sessions.session_id AND m.bot_id = sessions.bot_id
                     AND m.source_app = sessions.source_app
                     AND m.branch_id = sessions.branch_id AND m.id > sessions.watermark),
              waiting_since = coalesce(sessions.waiting_since, excluded.waiting_since);

-- old_messages --
-- What is part of a session goes only after it was archived.
SELECT m.id, m.tenant_id, m.user_id, m.persona_id FROM messages m
 WHERE m.ts < :before_ts AND NOT EXISTS (
       SELECT 1 FROM sessions s
        WHERE s.tenant_id = m.tenant_id AND s.user_id = m.user_id AND s.persona_id = m.persona_id
          AND s.session_id = m.session_id AND s.bot_id = m.bot_id AND s.source_app = m.source_app
          AND s.branch_id = m.branch_id AND s.archived_upto < m.id)
 ORDER BY m.ts LIMIT :limit;

-- crowded_personas --
SELECT tenant_id, user_id, persona_id, count(*) - :max AS surplus FROM messages
 GROUP BY tenant_id, user_id, persona_id HAVING count(*) > :max;

-- oldest_messages --
SELECT m.id FROM messages m
 WHERE m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.persona_id = :persona_id
   AND NOT EXISTS (
       SELECT 1 FROM sessions s
        WHERE s.tenant_id = m.tenant_id AND s.user_id = m.user_id AND s.persona_id = m.persona_id
          AND s.session_id = m.session_id AND s.bot_id = m.bot_id AND s.source_app = m.source_app
          AND s.branch_id = m.branch_id AND s.archived_upto < m.id)
 ORDER BY m.ts, m.id LIMIT :limit;

-- prune_jobs --
DELETE FROM jobs WHERE status = 'completed' AND completed_at < :before_ts;

-- prune_audit --
DELETE FROM audit WHERE ts < :before_ts;

-- unembedded --
SELECT m.*, e.partition_id, e.terms FROM recall_entries e {use_recall_unembedded}
  JOIN memory_items m
    ON m.tenant_id = e.tenant_id AND m.user_id = e.user_id AND m.id = e.memory_id
 WHERE e.vector IS NULL AND e.memory_id > :after_id
 ORDER BY e.memory_id LIMIT :limit;

-- count_unembedded --
SELECT count(*) AS n FROM recall_entries
 WHERE vector IS NULL AND (tenant_id = :tenant_id OR :tenant_id IS NULL);

-- count_entries --
SELECT count(*) AS n FROM recall_entries WHERE tenant_id = :tenant_id OR :tenant_id IS NULL;

-- entries_after --
SELECT tenant_id, user_id, partition_id, memory_id AS entry_id, vector IS NOT NULL AS embedded
  FROM recall_entries
 WHERE (tenant_id, user_id, partition_id, memory_id)
       > (:after_tenant, :after_user, :after_partition, :after_id)
 ORDER BY tenant_id, user_id, partition_id, memory_id LIMIT :limit;

-- talk_unembedded --
-- Newest first: what was just said is asked about soonest.
SELECT m.*, e.partition_id, e.terms FROM talk_entries e {use_talk_unembedded}
  JOIN messages m
    ON m.tenant_id = e.tenant_id AND m.user_id = e.user_id AND m.id = e.message_id
 WHERE e.vector IS NULL AND (:after_id = 0 OR e.message_id < :after_id)
 ORDER BY e.message_id DESC LIMIT :limit;

-- count_talk_unembedded --
SELECT count(*) AS n FROM talk_entries
 WHERE vector IS NULL AND (tenant_id = :tenant_id OR :tenant_id IS NULL);

-- count_talk_entries --
SELECT count(*) AS n FROM talk_entries WHERE tenant_id = :tenant_id OR :tenant_id IS NULL;

-- talk_entries_after --
SELECT tenant_id, user_id, partition_id, message_id AS entry_id, vector IS NOT NULL AS embedded
  FROM talk_entries
 WHERE (tenant_id, user_id, partition_id, message_id)
       > (:after_tenant, :after_user, :after_partition, :after_id)
 ORDER BY tenant_id, user_id, partition_id, message_id LIMIT :limit;

-- unindexed_talk --
SELECT * FROM messages WHERE id <= :upto ORDER BY id DESC LIMIT :limit;

-- count_unindexed_talk --
SELECT count(*) AS n FROM messages
 WHERE id <= :upto AND hidden_at IS NULL AND role IN ('user', 'assistant')
   AND (tenant_id = :tenant_id OR :tenant_id IS NULL);

-- kept_page_folders --
-- Of everybody: the hub looks at them by itself.
SELECT * FROM page_folders
 WHERE (tenant_id, user_id, persona_id) > (:after_tenant, :after_user, :after_persona)
 ORDER BY tenant_id, user_id, persona_id LIMIT :limit;

-- keep_page_folder --
INSERT INTO page_folders (tenant_id, user_id, persona_id, kept_for, stamp, audit_id)
VALUES (:tenant_id, :user_id, :persona_id, :kept_for, :stamp, :audit_id)
ON CONFLICT (tenant_id, user_id, persona_id)
DO UPDATE SET kept_for = excluded.kept_for, stamp = excluded.stamp, audit_id = excluded.audit_id;

-- keep_pages_of_personas --
INSERT INTO page_folders (tenant_id, user_id, persona_id, kept_for)
SELECT tenant_id, user_id, persona_id, persona_id FROM personas WHERE true ON CONFLICT DO NOTHING;

-- keep_pages_of_users --
INSERT INTO page_folders (tenant_id, user_id, persona_id, kept_for)
SELECT tenant_id, user_id, '', :kept_for FROM users WHERE true ON CONFLICT DO NOTHING;

-- page_lines --
SELECT root_id, digest FROM page_lines
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id;

-- put_page_line --
INSERT INTO page_lines (tenant_id, user_id, persona_id, root_id, digest)
VALUES (:tenant_id, :user_id, :persona_id, :root_id, :digest)
ON CONFLICT (tenant_id, user_id, persona_id, root_id) DO UPDATE SET digest = excluded.digest;

-- erase_page_line --
DELETE FROM page_lines
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND root_id = :root_id;

-- last_memory_event --
-- Talk and jobs change no page.
SELECT id FROM audit
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND id > :after_id
   AND event NOT LIKE 'messages.%' AND event NOT LIKE 'job.%'
 ORDER BY id DESC LIMIT 1;

-- page_mutes --
SELECT digest FROM page_mutes WHERE tenant_id = :tenant_id AND user_id = :user_id;

-- mute_page_line --
INSERT INTO page_mutes (tenant_id, user_id, digest, created_at)
VALUES (:tenant_id, :user_id, :digest, :now) ON CONFLICT DO NOTHING;
