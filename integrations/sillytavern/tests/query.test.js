import assert from 'node:assert/strict';
import { test } from 'node:test';
import { questionIn } from '../src/query.js';

const said = (mes, is_user) => ({ mes, is_user, is_system: false });
const options = { contextMessages: 2, maxQueryLength: 10 };

test('the question is the last thing the user said, with what came before it', () => {
    const chat = [said('一', true), said('二', false), said('三', true), said('晚饭吃什么', true), said('...', false)];

    const asked = questionIn(chat, options);

    assert.equal(asked.query, '晚饭吃什么');
    assert.deepEqual(asked.recent, [{ role: 'assistant', content: '二' }, { role: 'user', content: '三' }]);
});

test('of a long message the end is asked for', () => {
    assert.equal(questionIn([said('0123456789what tea?', true)], options).query, '9what tea?');
});

test('without a message of the user the question is empty', () => {
    assert.deepEqual(questionIn([], { ...options, contextMessages: 0 }), { query: '', recent: [] });
});
