-- The text index holds our own terms (rules/text.py), each prefixed with the partition of its
-- row: p<persona>x<term>, or g<user>x<term> for what all personas of a user share. A search names
-- the partition in every term, so it reads nobody else's postings, however many there are.
-- Without content, and with secure-delete: a forgotten word leaves the index pages too. (Not with
-- contentless_delete, which only marks a row as gone and keeps its words until some later merge.)

CREATE VIRTUAL TABLE fts_memory USING fts5(
    terms, content='', tokenize='ascii'
);
INSERT INTO fts_memory (fts_memory, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE fts_memory_terms USING fts5vocab(fts_memory, row);

CREATE VIRTUAL TABLE fts_messages USING fts5(
    terms, content='', tokenize='ascii'
);
INSERT INTO fts_messages (fts_messages, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE fts_messages_terms USING fts5vocab(fts_messages, row);
