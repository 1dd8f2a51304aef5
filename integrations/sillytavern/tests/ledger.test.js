import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare, forked, newLedger } from '../src/ledger.js';

/** Return a chat of alternating turns, with the ids it got the last time. */
function chat(texts, ids = new Map()) {
    return texts.map((text, index) => ({
        index, text, id: ids.get(index), role: index % 2 ? 'assistant' : 'user', ts: 100 + index, swipe: 0,
    }));
}

function told(...texts) {
    const done = compare(chat(texts), newLedger('one'));
    return { ...done, messages: chat(texts, done.ids) };
}

const kinds = (found) => found.reports.map((report) => [report.kind, report.text ?? report.id]);

test('what is new is appended, in order', () => {
    const found = compare(chat(['我对海鲜过敏', '记住了', 'and I like tea']), newLedger('one'));

    assert.deepEqual(kinds(found), [['append', '我对海鲜过敏'], ['append', '记住了'], ['append', 'and I like tea']]);
});

test('what was told is not told again', () => {
    const before = told('你好', 'Hello');

    assert.deepEqual(compare(before.messages, before.ledger).reports, []);
});

test('other words are an edit', () => {
    const before = told('我养猫', '好');
    before.messages[0].text = '我养狗';

    const found = compare(before.messages, before.ledger);

    assert.deepEqual(found.reports, [{ kind: 'edit', id: before.ids.get(0), text: '我养狗' }]);
});

test('another version of a reply replaces it', () => {
    const before = told('hi', 'I have a cat');
    Object.assign(before.messages[1], { text: 'I have a dog', swipe: 1 });

    assert.deepEqual(kinds(compare(before.messages, before.ledger)), [['replace', 'I have a dog']]);
});

test('a reply that is still being written is neither told nor taken back', () => {
    const before = told('hi', 'I have a cat');
    Object.assign(before.messages[1], { text: '...', swipe: 1, isOpen: true });
    const unknown = { index: 2, role: 'assistant', text: 'I', ts: 9, isOpen: true };

    const found = compare([...before.messages, unknown], before.ledger);

    assert.deepEqual(found.reports, []);
    assert.deepEqual(found.ledger.told, before.ledger.told);
});

test('what is gone is deleted, wherever it stood', () => {
    const before = told('一', '二', '三', '四');
    const left = before.messages.filter((_, index) => index !== 1 && index !== 3);

    assert.deepEqual(kinds(compare(left, before.ledger)), [['delete', before.ids.get(1)], ['delete', before.ids.get(3)]]);
});

test('messages that only change places are no news', () => {
    const before = told('一', '二', '三');

    assert.deepEqual(compare(before.messages.toReversed(), before.ledger).reports, []);
});

test('what was said before the memory was on is not told', () => {
    const found = compare(chat(['old', 'older', 'new']), newLedger('one'), 102);

    assert.deepEqual(kinds(found), [['append', 'new']]);
});

test('a copied message gets an id of its own', () => {
    const before = told('再说一遍', '好');
    const copy = { ...before.messages[0], index: 2 };

    const found = compare([...before.messages, copy], before.ledger);

    assert.deepEqual(kinds(found), [['append', '再说一遍']]);
    assert.notEqual(found.ids.get(2), found.ids.get(0));
});

test('a branch leaves at the last message it shares, and tells only its own', () => {
    const before = told('一', '二', '三');
    const shared = before.messages.slice(0, 2);

    const branch = forked(before.ledger, 'two', shared);
    const found = compare([...shared, { index: 2, role: 'user', text: '另一条路', ts: 200 }], branch.ledger);

    assert.deepEqual(branch.reports, [{ kind: 'branch', branch: branch.ledger.branch, from: before.ids.get(1) }]);
    assert.equal(branch.ledger.session, before.ledger.session);
    assert.deepEqual(kinds(found), [['append', '另一条路']]);
});

test('an edit of the shared past in a branch leaves the other chat as it was', () => {
    const before = told('一', '二', '三');
    const branch = forked(before.ledger, 'two', before.messages);
    before.messages[1].text = '两';

    const found = compare(before.messages, branch.ledger);

    assert.deepEqual(kinds(found), [['branch', undefined], ['append', '两'], ['append', '三']]);
    assert.equal(found.reports[0].from, before.ids.get(0));
    assert.notEqual(found.ledger.branch, branch.ledger.branch);
    assert.deepEqual(compare(chatOf(before.messages, found.ids), found.ledger).reports, []);
});

test('a branch whose whole past is changed is a conversation of its own', () => {
    const before = told('一', '二');
    const branch = forked(before.ledger, 'two', before.messages);
    before.messages[0].text = '壹';

    const found = compare(before.messages, branch.ledger);

    assert.notEqual(found.ledger.session, before.ledger.session);
    assert.deepEqual(kinds(found), [['append', '壹'], ['append', '二']]);
});

function chatOf(messages, ids) {
    return messages.map((one) => ({ ...one, id: ids.get(one.index) }));
}
