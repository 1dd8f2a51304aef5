import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    digest, entryOf, messageId, personaFor, personaOfCard, renamed, withoutCard,
} from '../src/identity.js';

const card = (avatar, name = '小雨', made = '2026-01-01') => ({ avatar, name, create_date: made });

test('two characters of one name are two personas', () => {
    assert.notEqual(personaOfCard(card('小雨.png')), personaOfCard(card('小雨1.png')));
});

test('a card made later under the file name of a deleted one is another persona', () => {
    assert.notEqual(personaOfCard(card('a.png')), personaOfCard(card('a.png', '小雨', '2026-02-02')));
});

test('a renamed character keeps its persona', () => {
    const before = card('Rain.png', 'Rain');
    const register = { 'Rain.png': entryOf({}, before) };

    const after = entryOf(renamed(register, 'Rain.png', 'Snow.png'), card('Snow.png', 'Snow'));

    assert.deepEqual(after, { persona: register['Rain.png'].persona, name: 'Snow' });
});

test('the register forgets a card that is gone', () => {
    assert.deepEqual(withoutCard({ a: 1, b: 2 }, 'a'), { b: 2 });
});

test('per chat, each chat is a persona of its own', () => {
    assert.equal(personaFor('p', 's1', false), 'p');
    assert.notEqual(personaFor('p', 's1', true), personaFor('p', 's2', true));
});

test('equal messages get different ids, and the same ones the second time', () => {
    const said = { role: 'user', text: '好', ts: 1 };
    const first = messageId('s', said, new Set());

    assert.equal(messageId('s', said, new Set()), first);
    assert.notEqual(messageId('s', said, new Set([first])), first);
});

test('a digest depends on every character and on their order', () => {
    const texts = ['', 'a', 'ab', 'ba', '喝茶', '茶喝', 'tea 茶'];
    assert.equal(new Set(texts.map(digest)).size, texts.length);
    assert.match(digest('喝茶'), /^[0-9a-f]{16}$/);
});
