-- Forgetting hides sentences instead of whole messages, and a request made in the chat is undone
-- for a day.

ALTER TABLE messages ADD COLUMN hidden_spans TEXT NOT NULL DEFAULT '[]';
