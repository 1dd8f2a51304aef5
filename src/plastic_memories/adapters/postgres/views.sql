-- What readers of the older tables find here, to read only. Made anew after every migration.
-- A role that reads them must say whose rows it wants: ALTER ROLE reader SET plastic.scope = 'all'.

CREATE OR REPLACE VIEW user_profiles AS
SELECT m.id, m.user_id, m.persona_id AS character_id,
       split_part(m.mkey, '.', 1) AS profile_type,
       CASE WHEN position('.' IN m.mkey) > 0 THEN substr(m.mkey, position('.' IN m.mkey) + 1)
            ELSE m.mkey END AS profile_key,
       m.content AS profile_value, m.confidence,
       (m.source_message_ids::json ->> 0)::bigint AS source_msg_id,
       to_timestamp(m.created_at) AS extracted_at, to_timestamp(m.created_at) AS created_at,
       to_timestamp(m.updated_at) AS updated_at, m.status <> 'active' AS is_deleted
  FROM memory_items m
 WHERE m.type = 'profile' AND m.status <> 'candidate' AND m.realm = 'real';

CREATE OR REPLACE VIEW user_events AS
SELECT m.id, m.user_id, m.persona_id AS character_id,
       m.attributes::json ->> 'event_type' AS event_type,
       coalesce(m.attributes::json ->> 'title', m.mkey) AS event_title,
       m.content AS event_summary, m.attributes::json ->> 'date' AS event_date,
       m.attributes::json ->> 'emotion' AS emotion_tag,
       greatest(1, least(10, round(m.importance * 10)))::integer AS importance,
       m.id::text AS vector_id, NULL::bigint AS source_summary_id,
       to_timestamp(m.created_at) AS created_at, to_timestamp(m.updated_at) AS updated_at,
       m.status <> 'active' AS is_deleted
  FROM memory_items m
 WHERE m.type = 'event' AND m.status <> 'candidate' AND m.realm = 'real';

CREATE OR REPLACE VIEW conversation_summaries AS
SELECT m.id, m.user_id, m.persona_id AS character_id, m.content AS summary_text,
       m.attributes::json ->> 'topics' AS topic_tags,
       m.attributes::json ->> 'emotion' AS emotion_tone,
       to_timestamp((m.attributes::json ->> 'start_time')::double precision) AS start_time,
       to_timestamp((m.attributes::json ->> 'end_time')::double precision) AS end_time,
       (m.attributes::json ->> 'message_count')::integer AS message_count,
       (m.attributes::json ->> 'total_tokens')::integer AS total_tokens,
       m.id::text AS vector_id,
       coalesce((SELECT max(s.archive_path) FROM sessions s
                  WHERE s.tenant_id = m.tenant_id AND s.user_id = m.user_id
                    AND s.persona_id = m.persona_id AND s.session_id = m.session_id
                    AND s.bot_id = m.bot_id AND s.source_app = m.source_app
                    AND s.branch_id = m.branch_id), '') AS archive_path,
       to_timestamp(m.created_at) AS created_at, m.status <> 'active' AS is_deleted
  FROM memory_items m
 WHERE m.type = 'summary' AND m.status <> 'candidate';

CREATE OR REPLACE VIEW memory_generation_tasks AS
SELECT j.id, j.id::text AS task_id, j.user_id, j.persona_id AS character_id, j.task_type,
       json_build_object('session_id', s.session_id, 'trigger', j.trigger)::text AS source_data,
       j.status, j.retry_count, j.max_retries, j.error_message,
       to_timestamp(j.created_at) AS created_at, to_timestamp(j.started_at) AS started_at,
       to_timestamp(j.completed_at) AS completed_at
  FROM jobs j
  LEFT JOIN sessions s
    ON s.tenant_id = j.tenant_id AND s.user_id = j.user_id AND s.id = j.session_ref;
