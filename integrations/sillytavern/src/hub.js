// Calls of the hub. Every call has a deadline, and none logs a key or a text.

const SLOW_MS = 15_000;

/** What the hub refused, or why it could not be asked: `kind` is for programs. */
export class HubError extends Error {
    constructor(kind, message, { status = 0, detail = null } = {}) {
        super(message);
        Object.assign(this, { kind, status, detail });
    }

    /** The same call may succeed later. */
    get isPassing() {
        return ['unreachable', 'timeout'].includes(this.kind) || this.status >= 500
            || [401, 403, 429].includes(this.status);
    }
}

export class Hub {
    /** @param {() => object} settings asked anew for each call: they may have changed */
    constructor(settings, fetchNow = (...given) => fetch(...given)) {
        Object.assign(this, { settings, fetchNow });
    }

    get baseUrl() {
        return this.settings().baseUrl.trim().replace(/\/+$/, '');
    }

    get(path, query, timeoutMs) {
        const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
        const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
        return this.#call('GET', search.size ? `${path}?${search}` : path, undefined, timeoutMs);
    }

    post(path, body, timeoutMs) {
        return this.#call('POST', path, body, timeoutMs);
    }

    async #call(method, path, body, timeoutMs = SLOW_MS) {
        const { apiKey, userId } = this.settings();
        const headers = { 'Content-Type': 'application/json' };
        if (apiKey) headers['X-API-Key'] = apiKey;
        if (userId) headers['X-User-Id'] = userId;
        const controller = new AbortController();
        const timer = setTimeout(() => controller.abort(), timeoutMs);
        try {
            const answer = await this.fetchNow(`${this.baseUrl}${path}`, {
                method,
                headers,
                body: body && JSON.stringify(body),
                signal: controller.signal,
                credentials: 'omit',
            });
            return await unwrapped(answer);
        } catch (error) {
            if (error instanceof HubError) throw error;
            if (controller.signal.aborted) throw new HubError('timeout', 'The hub is too slow.');
            throw new HubError('unreachable', 'The hub cannot be reached.');
        } finally {
            clearTimeout(timer);
        }
    }
}

async function unwrapped(answer) {
    const body = await answer.json().catch((error) => {
        if (error.name === 'AbortError') throw error;
        return null;
    });
    if (body?.ok) return body.data;
    const error = body?.error;
    if (!error) throw new HubError('not_a_hub', 'This is no hub.', { status: answer.status });
    throw new HubError(error.code, error.message, { status: answer.status, detail: error.detail });
}
