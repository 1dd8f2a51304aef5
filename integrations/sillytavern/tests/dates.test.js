import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dayText, momentText } from '../src/panel/dates.js';

const NOON = Date.UTC(2026, 5, 12, 12) / 1000;

test('a date is written in the language of the page', () => {
    assert.match(dayText(NOON, 'zh-cn'), /2026年6月12日/);
    assert.match(dayText(NOON, 'en'), /Jun 12, 2026/);
    assert.match(momentText(NOON, 'zh-cn'), /2026年6月12日.*:00/);
});

test('a language that nobody knows is that of the browser', () => {
    assert.equal(dayText(NOON, 'no such language'), dayText(NOON));
});
