-- Rows that should be indexed but are not, or the other way round. Each counts what is wrong.

-- active memories missing from the text index --
SELECT count(*) FROM memory_items m WHERE m.status = 'active' AND NOT EXISTS (
    SELECT 1 FROM memory_terms t
     WHERE t.tenant_id = m.tenant_id AND t.user_id = m.user_id AND t.row_id = m.id);

-- text index entries without an active memory --
SELECT count(*) FROM memory_terms t WHERE NOT EXISTS (
    SELECT 1 FROM memory_items m
     WHERE m.tenant_id = t.tenant_id AND m.user_id = t.user_id AND m.id = t.row_id
       AND m.status = 'active');

-- active memories that ranking does not know --
SELECT count(*) FROM memory_items m WHERE m.status = 'active' AND NOT EXISTS (
    SELECT 1 FROM recall_entries e
     WHERE e.tenant_id = m.tenant_id AND e.user_id = m.user_id AND e.memory_id = m.id);

-- entries for ranking without an active memory --
SELECT count(*) FROM recall_entries e WHERE NOT EXISTS (
    SELECT 1 FROM memory_items m
     WHERE m.tenant_id = e.tenant_id AND m.user_id = e.user_id AND m.id = e.memory_id
       AND m.status = 'active');

-- messages missing from the text index --
SELECT count(*) FROM messages m WHERE m.hidden_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM messages_terms t
     WHERE t.tenant_id = m.tenant_id AND t.user_id = m.user_id AND t.row_id = m.id);

-- text index entries without a visible message --
SELECT count(*) FROM messages_terms t WHERE NOT EXISTS (
    SELECT 1 FROM messages m
     WHERE m.tenant_id = t.tenant_id AND m.user_id = t.user_id AND m.id = t.row_id
       AND m.hidden_at IS NULL);

-- partitions whose numbers are not those of the text index --
SELECT count(*) FROM (
    SELECT tenant_id, user_id, 'memory' AS kind, partition_id, count(*) AS documents,
           sum(length) AS terms FROM memory_terms GROUP BY 1, 2, 4
     UNION ALL
    SELECT tenant_id, user_id, 'messages', partition_id, count(*), sum(length)
      FROM messages_terms GROUP BY 1, 2, 4) held
  FULL JOIN text_partitions p USING (tenant_id, user_id, kind, partition_id)
 WHERE coalesce(held.documents, 0) <> coalesce(p.documents, 0)
    OR coalesce(held.terms, 0) <> coalesce(p.terms, 0);

-- slots without an active memory --
SELECT count(*) FROM persona_slots s WHERE NOT EXISTS (
    SELECT 1 FROM memory_items m
     WHERE m.tenant_id = s.tenant_id AND m.user_id = s.user_id AND m.persona_id = s.persona_id
       AND m.bot_id = s.bot_id AND m.realm = s.realm AND m.type = s.slot_name
       AND m.status = 'active');
