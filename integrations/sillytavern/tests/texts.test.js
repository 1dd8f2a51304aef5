import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');

test('every text of the panel is there in Chinese', () => {
    const chinese = JSON.parse(read('../i18n/zh-cn.json'));
    const page = [...read('../settings.html').matchAll(/data-i18n="(?:\[\w+\])?([^"]+)"/g)];
    const scripts = readdirSync(new URL('../src/panel/', import.meta.url)).flatMap((name) => [
        ...read(`../src/panel/${name}`).matchAll(/\bt\('([^']+)'\)/g),
    ]);

    const missing = [...page, ...scripts].map(([, text]) => text).filter((text) => !chinese[text]);

    assert.ok(page.length && scripts.length);
    assert.deepEqual(missing, []);
});
