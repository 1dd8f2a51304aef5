-- Rows that should have another but do not. Each counts what is wrong.

-- active memories that ranking does not know --
SELECT count(*) FROM memory_items m WHERE m.status = 'active' AND NOT EXISTS (
    SELECT 1 FROM recall_entries e
     WHERE e.tenant_id = m.tenant_id AND e.user_id = m.user_id AND e.memory_id = m.id);

-- entries for ranking without an active memory --
SELECT count(*) FROM recall_entries e WHERE NOT EXISTS (
    SELECT 1 FROM memory_items m
     WHERE m.tenant_id = e.tenant_id AND m.user_id = e.user_id AND m.id = e.memory_id
       AND m.status = 'active');

-- slots without an active memory --
SELECT count(*) FROM persona_slots s WHERE NOT EXISTS (
    SELECT 1 FROM memory_items m
     WHERE m.tenant_id = s.tenant_id AND m.user_id = s.user_id AND m.persona_id = s.persona_id
       AND m.bot_id = s.bot_id AND m.realm = s.realm AND m.type = s.slot_name
       AND m.status = 'active');
