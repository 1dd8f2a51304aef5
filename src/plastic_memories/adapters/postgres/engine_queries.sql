-- What PostgreSQL says in its own words, beside the statements that all engines share
-- (adapters/sql/queries.sql). A statement that ends in _for_update takes the place of the one
-- without, inside a write: it locks its rows.

-- enter_scope --
-- Whose rows row-level security shows from now on.
SELECT set_config('plastic.scope', :scope, true), set_config('plastic.tenant', :tenant, true),
       set_config('plastic.user', :user, true);

-- enter_scope_alone --
-- The same, as the one writer of this user. The lock is held until the end of the transaction.
SELECT pg_advisory_xact_lock(hashtextextended(:tenant || chr(31) || :user, 0)),
       set_config('plastic.scope', :scope, true), set_config('plastic.tenant', :tenant, true),
       set_config('plastic.user', :user, true);

-- announce --
-- Told to whoever listens when the transaction is committed: ids only.
SELECT pg_notify('plastic_memories', :payload);

-- events_since --
-- Of everybody: what came while nobody could listen.
SELECT * FROM audit WHERE ts >= :since AND id > :after_id ORDER BY id LIMIT :limit;

-- next_revision --
-- Also the first: two who come at the same time get two numbers.
INSERT INTO recall_partitions (tenant_id, user_id, partition_id, revision)
VALUES (:tenant_id, :user_id, :partition_id, 1)
ON CONFLICT (tenant_id, user_id, partition_id)
DO UPDATE SET revision = recall_partitions.revision + 1,
              removed = CASE WHEN :removed THEN recall_partitions.revision + 1
                             ELSE recall_partitions.removed END;

-- heard_again --
-- Also the first time.
INSERT INTO sessions (tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id,
                      waiting, rounds, waiting_since, last_active)
VALUES (:tenant_id, :user_id, :persona_id, :session_id, :bot_id, :source_app, :branch_id,
        :messages, :rounds, CASE WHEN :messages > 0 THEN :now END, :now)
ON CONFLICT (tenant_id, user_id, persona_id, session_id, bot_id, source_app, branch_id)
DO UPDATE SET waiting = sessions.waiting + excluded.waiting,
              rounds = sessions.rounds + excluded.rounds,
              waiting_since = coalesce(sessions.waiting_since, excluded.waiting_since),
              last_active = excluded.last_active,
              ended_at = CASE WHEN excluded.waiting > 0 THEN NULL ELSE sessions.ended_at END;

-- next_talk_revision --
INSERT INTO talk_partitions (tenant_id, user_id, partition_id, revision)
VALUES (:tenant_id, :user_id, :partition_id, 1)
ON CONFLICT (tenant_id, user_id, partition_id)
DO UPDATE SET revision = talk_partitions.revision + 1,
              removed = CASE WHEN :removed THEN talk_partitions.revision + 1
                             ELSE talk_partitions.removed END;

-- messages_by_id --
SELECT m.* FROM messages m
 WHERE m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.persona_id = :persona_id
   AND m.id = ANY(:ids)
   AND m.hidden_at IS NULL AND m.realm = :realm AND (:all_bots OR m.bot_id = :bot_id)
   AND (NOT :only_session OR m.session_id = :session_id)
   AND (:only_app = '' OR m.source_app = :only_app);

-- find_people --
-- The users of a tenant, or one of them, for whoever holds an app key.
SELECT * FROM (
    SELECT u.user_id, u.created_at,
           (SELECT m.attributes::json ->> 'value' FROM memory_items m
             WHERE m.tenant_id = u.tenant_id AND m.user_id = u.user_id AND m.core > 0
               AND m.status = 'active' AND m.realm = 'real' AND m.type = 'profile'
               AND m.mkey IN ('basic_info.address', 'basic_info.nickname', 'basic_info.name')
             ORDER BY position(substr(m.mkey, 12, 4) IN 'addr nick name') LIMIT 1) AS name,
           (SELECT string_agg(DISTINCT s.source_app, ',') FROM sessions s
             WHERE s.tenant_id = u.tenant_id AND s.user_id = u.user_id) AS apps,
           (SELECT count(*) FROM memory_items m
             WHERE m.tenant_id = u.tenant_id AND m.user_id = u.user_id
               AND m.status = 'active') AS memories,
           (SELECT a.ts FROM audit a WHERE a.tenant_id = u.tenant_id AND a.user_id = u.user_id
             ORDER BY a.id DESC LIMIT 1) AS last_seen_at
      FROM users u
     WHERE u.tenant_id = :tenant_id AND (u.user_id = :user_id OR :user_id IS NULL)) people
 WHERE :text = '' OR position(:text IN lower(user_id)) > 0
    OR position(:text IN lower(coalesce(name, ''))) > 0
 ORDER BY coalesce(last_seen_at, created_at) DESC, user_id LIMIT :limit;

-- live_keys --
-- Which of many keys are in use: what a write of many asks first.
SELECT DISTINCT m.mkey FROM memory_items m
 WHERE m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.persona_id IN (:persona_id, '')
   AND m.type = :type AND m.mkey = ANY(:keys) AND m.status IN ('active', 'candidate');

-- seen_memory --
-- Ranking knows them already; who may see them is asked again, here.
SELECT m.* FROM memory_items m WHERE m.id = ANY(:ids) AND {seen};

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

-- lock_leases --
-- Of two who lease at once, the second must see what the first has taken: a session has one worker.
SELECT pg_advisory_xact_lock(7213960482);

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
   FOR UPDATE OF j SKIP LOCKED;

-- get_job_for_update --
SELECT * FROM jobs WHERE tenant_id = :tenant_id AND user_id = :user_id AND id = :id
   FOR UPDATE;

-- the_open_job_for_update --
SELECT * FROM jobs
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND persona_id = :persona_id
   AND session_ref = :session_ref AND task_type = :task_type
   AND status IN ('pending', 'failed', 'processing')
   FOR UPDATE;

-- The text index: codes of the terms of each row, the partition inside every code, so that nobody
-- reads another's postings. Best first by BM25, with the numbers of FTS5 (k1 = 1.2, b = 0.75).

-- put_memory_terms --
INSERT INTO memory_terms (tenant_id, user_id, row_id, partition_id, length, codes)
VALUES (:tenant_id, :user_id, :row_id, :partition_id, :length, :codes);

-- put_messages_terms --
INSERT INTO messages_terms (tenant_id, user_id, row_id, partition_id, length, codes)
VALUES (:tenant_id, :user_id, :row_id, :partition_id, :length, :codes);

-- drop_memory_terms --
WITH gone AS (DELETE FROM memory_terms
               WHERE tenant_id = :tenant_id AND user_id = :user_id AND row_id = :row_id
              RETURNING partition_id, length)
UPDATE text_partitions t SET documents = t.documents - 1, terms = t.terms - gone.length
  FROM gone
 WHERE t.tenant_id = :tenant_id AND t.user_id = :user_id AND t.kind = 'memory'
   AND t.partition_id = gone.partition_id;

-- drop_messages_terms --
WITH gone AS (DELETE FROM messages_terms
               WHERE tenant_id = :tenant_id AND user_id = :user_id AND row_id = :row_id
              RETURNING partition_id, length)
UPDATE text_partitions t SET documents = t.documents - 1, terms = t.terms - gone.length
  FROM gone
 WHERE t.tenant_id = :tenant_id AND t.user_id = :user_id AND t.kind = 'messages'
   AND t.partition_id = gone.partition_id;

-- add_to_text_partition --
INSERT INTO text_partitions (tenant_id, user_id, kind, partition_id, documents, terms)
VALUES (:tenant_id, :user_id, :kind, :partition_id, :documents, :terms)
ON CONFLICT (tenant_id, user_id, kind, partition_id)
DO UPDATE SET documents = text_partitions.documents + excluded.documents,
              terms = text_partitions.terms + excluded.terms;

-- text_partition_sizes --
SELECT coalesce(sum(documents), 0)::bigint AS documents, coalesce(sum(terms), 0)::bigint AS terms
  FROM text_partitions
 WHERE tenant_id = :tenant_id AND user_id = :user_id AND kind = :kind
   AND partition_id = ANY(:partitions);

-- count_memory_terms --
SELECT wanted.code, (SELECT count(*) FROM (
           SELECT 1 FROM memory_terms t
            WHERE t.tenant_id = :tenant_id AND t.user_id = :user_id
              AND t.codes @> ARRAY[wanted.code] LIMIT :most) few) AS n
  FROM unnest(:codes::bigint[]) AS wanted (code);

-- count_messages_terms --
SELECT wanted.code, (SELECT count(*) FROM (
           SELECT 1 FROM messages_terms t
            WHERE t.tenant_id = :tenant_id AND t.user_id = :user_id
              AND t.codes @> ARRAY[wanted.code] LIMIT :most) few) AS n
  FROM unnest(:codes::bigint[]) AS wanted (code);

-- bm25 --
-- Not a statement: the score of a row of terms, wherever {bm25} stands.
(SELECT sum(wanted.weight * held.n * 2.2
            / (held.n + 1.2 * (0.25 + 0.75 * t.length / :average_length)))
   FROM unnest(:codes::bigint[], :weights::double precision[]) AS wanted (code, weight)
   JOIN (SELECT one.code, count(*)::double precision AS n
           FROM unnest(t.codes) AS one (code) GROUP BY one.code) held ON held.code = wanted.code)

-- search_memory --
SELECT m.*, {bm25} AS score FROM memory_terms t
  JOIN memory_items m
    ON m.tenant_id = t.tenant_id AND m.user_id = t.user_id AND m.id = t.row_id
 WHERE t.tenant_id = :tenant_id AND t.user_id = :user_id AND t.codes && :codes::bigint[]
   AND {seen}
 ORDER BY score DESC, m.id LIMIT :limit;

-- found_message --
-- Not a statement: the messages with such words that a reader may see, wherever {found_message}
-- stands.
t.tenant_id = :tenant_id AND t.user_id = :user_id AND t.codes && :codes::bigint[]
   AND m.tenant_id = :tenant_id AND m.user_id = :user_id AND m.persona_id = :persona_id
   AND m.hidden_at IS NULL AND m.realm = :realm AND (:all_bots OR m.bot_id = :bot_id)
   AND (NOT :only_session OR m.session_id = :session_id)
   AND (:only_app = '' OR m.source_app = :only_app)

-- search_messages --
SELECT m.* FROM messages_terms t
  JOIN messages m ON m.tenant_id = t.tenant_id AND m.user_id = t.user_id AND m.id = t.row_id
 WHERE {found_message}
 ORDER BY {bm25} DESC, m.id LIMIT :limit;

-- search_messages_of --
SELECT m.* FROM messages_terms t
  JOIN messages m ON m.tenant_id = t.tenant_id AND m.user_id = t.user_id AND m.id = t.row_id
 WHERE {found_message} AND t.row_id BETWEEN :first_id AND :last_id
   AND m.ts >= :since_ts AND m.ts < :until_ts
 ORDER BY {bm25} DESC, m.id LIMIT :limit;
