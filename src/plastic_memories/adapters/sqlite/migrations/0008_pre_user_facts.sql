-- What is true of the user for every persona is one row per user, under the persona ''.

ALTER TABLE memory_items ADD COLUMN told_to TEXT NOT NULL DEFAULT '';

-- Of several personas' active rows the newest stands; the others become its past.
CREATE TEMP TABLE user_facts AS
SELECT m.id, m.status,
       max(CASE WHEN m.status = 'active' THEN m.id END) OVER (
           PARTITION BY m.tenant_id, m.user_id, m.bot_id, m.mkey, m.branch_id) AS newest
  FROM memory_items m
 WHERE m.type = 'profile' AND m.realm = 'real' AND m.scope IN ('persona', 'global')
   AND (m.mkey GLOB 'basic_info.*' OR m.mkey GLOB 'constraint.*')
   AND m.mkey NOT IN ('basic_info.address', 'basic_info.nickname');

UPDATE memory_items
   SET status = 'revoked',
       superseded_by = (SELECT f.newest FROM user_facts f WHERE f.id = memory_items.id)
 WHERE id IN (SELECT id FROM user_facts WHERE status = 'active' AND id <> newest);

-- One chain, so that history and forget find every version.
UPDATE memory_items
   SET root_id = (SELECT coalesce(n.root_id, n.id) FROM user_facts f JOIN memory_items n ON n.id = f.newest
                   WHERE f.id = memory_items.id)
 WHERE id IN (SELECT f.id FROM user_facts f JOIN memory_items n ON n.id = f.newest
               WHERE f.id <> coalesce(n.root_id, n.id));

-- A retried call finds its row by persona and key; of two such rows the older one loses its key.
UPDATE memory_items SET idempotency_key = ''
 WHERE idempotency_key <> '' AND id IN (SELECT id FROM user_facts)
   AND EXISTS (SELECT 1 FROM memory_items n
                WHERE n.tenant_id = memory_items.tenant_id AND n.user_id = memory_items.user_id
                  AND n.bot_id = memory_items.bot_id AND n.id > memory_items.id
                  AND n.idempotency_key = memory_items.idempotency_key
                  AND n.id IN (SELECT id FROM user_facts));

DELETE FROM recall_entries WHERE memory_id IN (SELECT id FROM user_facts);
UPDATE recall_partitions SET revision = revision + 1, removed = revision + 1;

UPDATE memory_items SET told_to = persona_id, persona_id = '', scope = 'global', scope_ref = ''
 WHERE id IN (SELECT id FROM user_facts);

DROP TABLE user_facts;

-- Entries and text index are made again from the rows.
DELETE FROM meta WHERE key = 'terms_version';
