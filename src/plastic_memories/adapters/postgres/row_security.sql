-- The second wall: whatever a statement forgets to ask, it is shown only rows of the user (or the
-- tenant) that the transaction says it works for. Run after every migration; new tables get it too.
-- Each setting is read once for a statement, not once for a row.
DO $$
DECLARE
    owned record;
BEGIN
    FOR owned IN
        SELECT c.oid::regclass AS name FROM pg_class c
         WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
           AND c.relname NOT IN ('api_keys', 'console_sessions', 'memory_terms', 'messages_terms')
           AND (SELECT count(*) FROM pg_attribute a
                 WHERE a.attrelid = c.oid AND a.attname IN ('tenant_id', 'user_id')
                   AND NOT a.attisdropped) = 2
           AND NOT EXISTS (SELECT 1 FROM pg_policy p
                            WHERE p.polrelid = c.oid AND p.polname = 'plastic_owner')
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', owned.name);
        EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', owned.name);
        EXECUTE format($policy$
            CREATE POLICY plastic_owner ON %s USING (
                (SELECT current_setting('plastic.scope', true)) = 'all'
                OR (tenant_id = (SELECT current_setting('plastic.tenant', true))
                    AND ((SELECT current_setting('plastic.scope', true)) = 'tenant'
                         OR user_id = (SELECT current_setting('plastic.user', true)))))
        $policy$, owned.name);
    END LOOP;
END
$$;
