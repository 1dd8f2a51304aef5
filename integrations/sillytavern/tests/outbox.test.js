import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotNow, Outbox } from '../src/outbox.js';

/** A browser's storage. */
class Shelf extends Map {
    get length() { return this.size; }
    key(i) { return [...this.keys()][i] ?? null; }
    getItem(name) { return this.get(name) ?? null; }
    setItem(name, text) { this.set(name, text); }
    removeItem(name) { this.delete(name); }
}

const append = (id) => ({ kind: 'append', persona: 'p', session: 's', branch: '', id });

function outbox({ shelf = new Shelf(), deliver } = {}) {
    const sent = [];
    const timers = [];
    const clock = { now: 1_000 };
    const box = new Outbox(shelf, deliver ?? (async (reports) => void sent.push(reports)), {
        now: () => clock.now,
        later: (work, ms) => timers.push({ work, ms }),
    });
    return { box, sent, timers, clock, shelf };
}

test('appends to one place travel together, in order', async () => {
    const { box, sent } = outbox();

    box.add([append(1), append(2), { kind: 'delete', id: 1 }, append(3)]);
    await box.flush();

    assert.deepEqual(sent.map((batch) => batch.map((one) => one.id)), [[1, 2], [1], [3]]);
    assert.equal(box.size, 0);
});

test('what the hub cannot take now is kept and tried again, later each time', async () => {
    let isThere = false;
    const arrived = [];
    const { box, timers } = outbox({
        deliver: async (reports) => {
            if (!isThere) throw new NotNow();
            arrived.push(...reports);
        },
    });

    box.add([append(1)]);
    await box.flush();
    await timers[0].work();
    assert.equal(box.size, 1);
    isThere = true;
    await timers[1].work();

    assert.deepEqual(arrived.map((one) => one.id), [1]);
    assert.ok(timers[1].ms > timers[0].ms);
    assert.equal(box.size, 0);
});

test('reports survive a reload of the page', async () => {
    const shelf = new Shelf();
    const before = outbox({ shelf, deliver: async () => { throw new NotNow(); } });
    before.box.add([append(1), append(2)]);
    await before.box.flush();

    const { box, sent } = outbox({ shelf });
    await box.flush();

    assert.deepEqual(sent.flat().map((one) => one.id), [1, 2]);
});

test('what is not due yet waits, holds nothing up, and can be withdrawn', async () => {
    const { box, sent, clock } = outbox();

    const [first] = box.add([{ kind: 'forget', memory: 1 }], { dueInMs: 100 });
    box.add([{ kind: 'forget', memory: 2 }], { dueInMs: 100 });
    box.add([append(7)]);
    await box.flush();
    assert.ok(box.withdraw(first));
    clock.now += 100;
    await box.flush();

    assert.deepEqual(sent.flat().map((one) => one.id ?? one.memory), [7, 2]);
    assert.ok(!box.withdraw(first));
});

test('the outbox is bounded: the oldest go first', async () => {
    const { box } = outbox({ deliver: async () => { throw new NotNow(); } });

    box.add(Array.from({ length: 1_005 }, (_, id) => append(id)));
    await box.flush();

    assert.equal(box.size, 1_000);
    assert.equal(JSON.parse(box.storage.getItem(box.names[0])).id, 5);
});

test('an entry that cannot be read is no obstacle', async () => {
    const shelf = new Shelf([['plastic_memories.outbox.0', '{"kind":'], ['other', 'x']]);
    const { box, sent } = outbox({ shelf });

    box.add([append(1)]);
    await box.flush();

    assert.equal(sent.length, 1);
    assert.deepEqual([...shelf.keys()], ['other']);
});

test('with the timers of the browser, too, a report is tried again', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let tries = 0;
    const box = new Outbox(new Shelf(), async () => {
        if (!tries++) throw new NotNow();
    });

    box.add([append(1)]);
    await box.flush();
    t.mock.timers.tick(2_000);
    await box.flush();

    assert.equal(tries, 2);
    assert.equal(box.size, 0);
});
