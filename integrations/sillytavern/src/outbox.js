// Reports that wait for the hub. They survive a reload, and are delivered in order.

const PREFIX = 'plastic_memories.outbox.';
const LIMIT = 1000;
const BATCH = 50;
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

/** Tells the outbox that the hub cannot take anything now: keep the report, try again later. */
export class NotNow extends Error {}

export class Outbox {
    /**
     * @param {Storage} storage each report is an entry of its own: two tabs do not overwrite
     *     each other
     * @param {(reports: object[]) => Promise<void>} deliver throws NotNow to have them kept
     */
    constructor(storage, deliver, { now = Date.now, later = wait, locks = null } = {}) {
        Object.assign(this, { storage, deliver, now, later, locks });
        this.count = 0;
        this.pauseMs = FIRST_PAUSE_MS;
        this.running = null;
        this.timer = null;
        this.onChange = () => {};
    }

    /** Keep reports; they are sent in the background. Returns their names. */
    add(reports, { dueInMs = 0 } = {}) {
        const due = this.now() + dueInMs;
        const names = reports.map((report) => {
            const order = [String(this.now()).padStart(15, '0'), String(this.count++).padStart(9, '0')];
            const name = `${PREFIX}${order.join('-')}-${Math.random().toString(36).slice(2, 8)}`;
            this.#store(name, JSON.stringify(dueInMs ? { ...report, due } : report));
            return name;
        });
        this.#keepToLimit();
        this.onChange();
        if (dueInMs) this.later(() => this.flush(), dueInMs + 10);
        else this.flush();
        return names;
    }

    /** Take a report back that was not sent yet; says whether that was still possible. */
    withdraw(name) {
        const isThere = this.storage.getItem(name) !== null;
        this.storage.removeItem(name);
        this.onChange();
        return isThere;
    }

    get names() {
        const all = Array.from({ length: this.storage.length }, (_, i) => this.storage.key(i));
        return all.filter((name) => name?.startsWith(PREFIX)).sort();
    }

    get size() {
        return this.names.length;
    }

    /** How many would be sent if the hub were there. */
    get waiting() {
        return this.names.filter((name) => !(this.#read(name)?.due > this.now())).length;
    }

    /** Deliver what waits. Only one delivery runs at a time, in this tab and in others. */
    flush() {
        this.running ??= this.#deliverAll();
        return this.running;
    }

    async #deliverAll() {
        let isDone = false;
        try {
            isDone = await this.#locked(() => this.#drain());
        } finally {
            this.running = null;
            this.onChange();
        }
        // Something may have come in while the last delivery was being put away.
        if (isDone && this.#next().length) await this.flush();
    }

    #locked(work) {
        return this.locks ? this.locks.request('plastic-memories-outbox', work) : work();
    }

    async #drain() {
        for (let batch = this.#next(); batch.length; batch = this.#next()) {
            try {
                await this.deliver(batch.map(([, report]) => report));
            } catch (error) {
                if (!(error instanceof NotNow)) throw error;
                this.#tryLater();
                return false;
            }
            this.pauseMs = FIRST_PAUSE_MS;
            for (const [name] of batch) this.storage.removeItem(name);
            this.onChange();
        }
        return true;
    }

    #tryLater() {
        clearTimeout(this.timer);
        this.timer = this.later(() => this.flush(), this.pauseMs);
        this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
    }

    /** Return the oldest report that is due, with the appends that go to the same place. */
    #next() {
        const batch = [];
        for (const name of this.names) {
            const report = this.#read(name);
            if (!report || report.due > this.now()) continue;
            if (batch.length && !goTogether(batch[0][1], report)) break;
            batch.push([name, report]);
            if (batch.length === BATCH) break;
        }
        return batch;
    }

    #read(name) {
        try {
            return JSON.parse(this.storage.getItem(name));
        } catch {
            this.storage.removeItem(name); // not ours, or cut off: it can never be sent
            return null;
        }
    }

    #store(name, text) {
        try {
            this.storage.setItem(name, text);
        } catch {
            // The browser's storage is full: the newest is worth more than the oldest.
            this.#dropOldest(Math.ceil(this.size / 4));
            this.storage.setItem(name, text);
        }
    }

    #keepToLimit() {
        this.#dropOldest(this.size - LIMIT);
    }

    #dropOldest(count) {
        for (const name of this.names.slice(0, Math.max(0, count))) this.storage.removeItem(name);
    }
}

function wait(work, ms) {
    return setTimeout(work, ms);
}

function goTogether(first, next) {
    const isAppend = first.kind === 'append' && next.kind === 'append';
    return isAppend && ['persona', 'session', 'branch'].every((part) => first[part] === next[part]);
}
