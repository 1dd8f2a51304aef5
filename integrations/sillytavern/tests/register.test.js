import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recorder } from '../src/recorder.js';
import { movedChat, named, noted, withoutChat } from '../src/register.js';
import { MODULE } from '../src/settings.js';

const chat = (home, file, session = 's1', personas = ['p']) => ({ home, file, session, personas });
const registerOf = (...chats) => chats.reduce(noted, {});

/** A recorder that knows some chats, in a SillyTavern that has some files: home → file → ledger. */
function recorder(register, files) {
    const sent = [];
    const settings = { chats: register, enabled: true };
    const made = new Recorder({
        context: () => ({ saveSettingsDebounced() {} }),
        settings: () => settings,
        outbox: { add: (reports) => sent.push(...reports) },
        files: async (home) => new Map(Object.entries(files[home] ?? {})
            .map(([file, ledger]) => [file, { [MODULE]: ledger }])),
    });
    return { made, sent, settings };
}

test('a chat that is deleted is taken back from everybody who heard it', async () => {
    const { made, sent, settings } = recorder(
        registerOf(chat('group/1', '夜谈', 's1', ['小红', 'Tom'])), {});

    await made.chatDeleted('夜谈');

    assert.deepEqual(sent, ['小红', 'Tom'].map((persona) =>
        ({ kind: 'delete_chat', persona, session: 's1', keep: [] })));
    assert.deepEqual(settings.chats, {});
});

test('a chat of the same name of another character stays', async () => {
    const register = registerOf(chat('a.png', 'one', 's1', ['a']), chat('b.png', 'one', 's2', ['b']));
    const { made, sent, settings } = recorder(register, { 'b.png': { one: { session: 's2', branch: '' } } });

    await made.chatDeleted('one');

    assert.deepEqual(sent.map((one) => one.persona), ['a']);
    assert.deepEqual(Object.keys(settings.chats), ['b.png']);
});

test('what a branch or the chat it left still says is named', async () => {
    const register = registerOf(chat('a.png', 'main'), chat('a.png', 'branch'));
    const files = { 'a.png': { main: { session: 's1', branch: '' }, other: { session: 's2', branch: 'x' }, empty: undefined } };
    const { made, sent } = recorder(register, files);

    await made.chatDeleted('branch');
    files['a.png'] = { branch: { session: 's1', branch: 'b1' } };
    await made.chatDeleted('main');

    assert.deepEqual(sent.map((one) => one.keep), [[''], ['b1']]);
});

test('a chat that goes on in a group is still said there', async () => {
    const register = registerOf(chat('a.png', 'solo'), chat('group/1', '2026'));
    const { made, sent } = recorder(register, { 'group/1': { 2026: { session: 's1', branch: '' } } });

    await made.chatDeleted('solo');

    assert.deepEqual(sent.map((one) => one.keep), [['']]);
});

test('a chat nobody told of is not reported, nor one whose fate is not known', async () => {
    const { made, sent, settings } = recorder(registerOf(chat('a.png', 'one')), {});
    made.files = async () => { throw new Error('SillyTavern is away'); };

    await made.chatDeleted('unknown');
    await assert.rejects(made.chatDeleted('one'));

    assert.deepEqual(sent, []);
    assert.equal(named(settings.chats, 'one').length, 1);
});

test('a chat with another name is the same chat', async () => {
    const { made, sent } = recorder(registerOf(chat('a.png', 'before')), {});

    made.chatRenamed({ avatarId: 'a.png', oldFileName: 'before.jsonl', newFileName: '之后.jsonl' });
    await made.chatDeleted('before');
    assert.deepEqual(sent, []);
    await made.chatDeleted('之后');

    assert.equal(sent.length, 1);
});

test('a chat is noted once, and whoever heard it stays named', () => {
    const register = registerOf(chat('a.png', 'one', 's1', ['p']));

    assert.equal(noted(register, chat('a.png', 'one', 's1', ['p'])), register);
    assert.deepEqual(noted(register, chat('a.png', 'one', 's1', ['q']))['a.png'].one.personas, ['p', 'q']);
    assert.deepEqual(noted(register, chat('a.png', 'one', 's2', ['q']))['a.png'].one, { session: 's2', personas: ['q'] });
});

test('the other chats of a home stay when one goes or moves', () => {
    const register = registerOf(chat('a.png', 'one'), chat('a.png', 'two'));

    assert.deepEqual(Object.keys(withoutChat(register, { home: 'a.png', file: 'one' })['a.png']), ['two']);
    assert.deepEqual(Object.keys(movedChat(register, { home: 'a.png', file: 'one', to: 'three' })['a.png']), ['two', 'three']);
    assert.equal(movedChat(register, { home: 'b.png', file: 'one', to: 'x' }), register);
});
