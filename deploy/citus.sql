-- Shards an empty Plastic Memories database with Citus, by user: all tables of one user lie together
-- on one node, so every statement of one user and every join stays there.
--
-- 1. On the coordinator and every worker: CREATE EXTENSION citus;
-- 2. Start the hub once on the empty database, so that it makes its tables; stop it.
-- 3. psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f deploy/citus.sql
-- 4. Start the hub.
--
-- tests/unit/test_citus.py checks that no table is missing and that every key holds user_id.

BEGIN;

SELECT create_reference_table('meta');
SELECT create_reference_table('api_keys');
SELECT create_reference_table('console_sessions');

SELECT create_distributed_table('users', 'user_id');
SELECT create_distributed_table('personas', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('persona_cards', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('messages', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('sessions', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('branches', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('jobs', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('memory_items', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('memory_sources', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('recall_entries', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('recall_partitions', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('persona_slots', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('tombstones', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('erasures', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('page_folders', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('page_lines', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('page_mutes', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('goals', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('goal_links', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('audit', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('memory_terms', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('messages_terms', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('text_partitions', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('message_corrections', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('talk_entries', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('talk_partitions', 'user_id', colocate_with => 'users');
SELECT create_distributed_table('pending_forgets', 'user_id', colocate_with => 'users');

COMMIT;
