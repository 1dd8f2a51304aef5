import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delivery } from '../src/delivery.js';
import { Hub, HubError } from '../src/hub.js';
import { NotNow } from '../src/outbox.js';

const report = { kind: 'edit', persona: 'p', session: 's', id: 'm1', text: '新' };

function delivering(post) {
    const problems = [];
    const deliver = delivery({ post }, { onProblem: (one) => problems.push(one.kind), onSuccess: () => {} });
    return { deliver, problems };
}

test('an edit names the message by the id that the message carries', async () => {
    const calls = [];
    const { deliver } = delivering(async (...call) => void calls.push(call));

    await deliver([report]);

    assert.deepEqual(calls, [['/messages/edit', { persona_id: 'p', session_id: 's', client_msg_id: 'm1', content: '新' }]]);
});

test('a deleted chat is one call, whatever was said in it', async () => {
    const calls = [];
    const { deliver } = delivering(async (...call) => void calls.push(call));

    await deliver([{ kind: 'delete_chat', persona: 'p', session: 's', keep: ['', 'b'] }]);

    assert.deepEqual(calls, [['/messages/delete', { persona_id: 'p', session_id: 's', all: true, keep_branches: ['', 'b'] }]]);
});

for (const [kind, status] of [['unreachable', 0], ['timeout', 0], ['unavailable', 503], ['unauthorized', 401], ['rate_limited', 429]]) {
    test(`a report is kept when the hub says ${kind}`, async () => {
        const { deliver, problems } = delivering(async () => { throw new HubError(kind, '', { status }); });

        await assert.rejects(deliver([report]), NotNow);
        assert.deepEqual(problems, [kind]);
    });
}

test('what the hub never knew need not be taken back', async () => {
    const { deliver, problems } = delivering(async () => { throw new HubError('not_found', '', { status: 404 }); });

    await deliver([report]);

    assert.deepEqual(problems, []);
});

test('what the hub refuses for good is given up, and said', async () => {
    const { deliver, problems } = delivering(async () => { throw new HubError('validation_error', '', { status: 422 }); });

    await deliver([report]);

    assert.deepEqual(problems, ['validation_error']);
});

test('a hub that hangs is left at the deadline', async () => {
    const never = (_url, { signal }) => new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
    });
    const hub = new Hub(() => ({ baseUrl: 'http://hub', apiKey: 'k' }), never);

    await assert.rejects(hub.post('/memory/recall', {}, 5), { kind: 'timeout' });
});

test('something else at the address is no hub', async () => {
    const page = async () => new Response('<html>', { status: 200 });
    const hub = new Hub(() => ({ baseUrl: 'http://hub/' }), page);

    await assert.rejects(hub.get('/capabilities'), { kind: 'not_a_hub' });
});
