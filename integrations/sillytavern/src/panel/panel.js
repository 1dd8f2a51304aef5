// The panel among SillyTavern's extension settings.
import { explained } from './explained.js';
import { hint } from './elements.js';
import { bindForm } from './form.js';
import { Inbox } from './inbox.js';
import { InjectedView } from './injected.js';
import { MemoryList } from './memories.js';

const TYPING_MS = 300;
const CONNECTION = ['baseUrl', 'apiKey', 'userId'];

export class Panel {
    /** @param {object} parts context, settings, hub, outbox, recorder, notices, persona, t */
    constructor(root, parts) {
        Object.assign(this, parts, { root });
        this.memories = new MemoryList({
            ...parts, root: this.#at('pm_memories'), openInbox: () => this.open('inbox'),
        });
        this.inbox = new Inbox({
            ...parts, root: this.#at('pm_inbox'), counter: this.#at('pm_inbox_count'),
        });
        this.injected = new InjectedView({ ...parts, root: this.#at('pm_injected') });
        this.#bindTabs();
        this.#bindButtons();
        bindForm(root, this.settings, (path, value) => this.#changed(path, value));
        this.#showRewrite();
        this.open('memories');
    }

    /** Show another tab; what it shows is fetched when somebody looks. */
    open(tab) {
        this.tab = tab;
        for (const one of this.root.querySelectorAll('[data-tab]')) {
            one.setAttribute('aria-selected', String(one.dataset.tab === tab));
        }
        for (const one of this.root.querySelectorAll('[data-panel]')) {
            one.hidden = one.dataset.panel !== tab;
        }
        return this.refresh();
    }

    async refresh() {
        const card = this.card();
        this.#at('pm_whose').textContent = card ? `${this.t('What is remembered by')} ${card.name}` : '';
        this.#at('pm_story').checked = this.recorder.realm === 'story';
        this.#showConsole();
        if (!this.settings().enabled) return this.#dot('off');
        if (!this.settings().apiKey) return this.#askForKey();
        try {
            await Promise.all([
                this.tab === 'memories' && this.memories.refresh(),
                this.inbox.refresh(),
                // Without a chat nothing else is asked, and an answer is what makes the dot green.
                !this.persona() && this.hub.get('/persona/list', {}),
            ]);
            this.#dot('ok');
            this.notices.success();
        } catch (error) {
            this.#dot('bad');
            this.notices.problem(error);
        }
    }

    #askForKey() {
        this.#dot('off');
        this.memories.root.replaceChildren(hint(this.t('Enter the key of your hub in the settings first.')));
        this.inbox.root.replaceChildren();
    }

    /** Link to the hub's own pages, at the character that is looked at. */
    #showConsole() {
        const link = this.#at('pm_console');
        const persona = this.persona();
        const place = persona ? `#persona=${encodeURIComponent(persona)}` : '';
        link.href = `${this.hub.baseUrl}/console${place}`;
        link.hidden = !/^https?:/.test(link.href);
    }

    /** Say what is not told to the hub yet. */
    showBusy() {
        const count = this.outbox.waiting;
        this.root.dataset.busy = String(this.recorder.isBusy || count > 0);
        this.#at('pm_waiting').textContent = count
            ? `${this.t('Waiting for the hub:')} ${count}`
            : '';
    }

    #at(id) {
        return this.root.querySelector(`#${id}`);
    }

    #dot(state) {
        const t = this.t;
        const titles = { ok: t('Connected.'), bad: t('Not connected.'), off: t('Not connected yet.') };
        const dot = this.#at('pm_dot');
        dot.dataset.state = state;
        dot.title = titles[state];
        dot.ariaLabel = titles[state];
    }

    #bindTabs() {
        for (const one of this.root.querySelectorAll('[data-tab]')) {
            one.addEventListener('click', () => this.open(one.dataset.tab));
        }
    }

    #bindButtons() {
        let typing;
        this.#at('pm_search').addEventListener('input', (event) => {
            clearTimeout(typing);
            this.memories.search = event.target.value.trim();
            typing = setTimeout(() => this.refresh(), TYPING_MS);
        });
        this.#at('pm_refresh').addEventListener('click', () => this.refresh());
        for (const path of CONNECTION) {
            // Not while somebody types: half a key is a wrong key.
            const field = this.root.querySelector(`[data-setting='${path}']`);
            field.addEventListener('change', () => this.refresh());
        }
        this.#at('pm_test').addEventListener('click', () => this.#test());
        this.#at('pm_story').addEventListener('change', (event) => {
            this.recorder.setRealm(event.target.checked ? 'story' : 'real');
        });
        this.#at('pm_whole_chat').addEventListener('click', () => this.recorder.tellWholeChat());
        this.#at('pm_learn_now').addEventListener('click', () => this.#learnNow());
    }

    async #learnNow() {
        const persona = this.persona();
        const said = this.#at('pm_learned');
        if (!persona) return void (said.textContent = this.t('Open a chat first.'));
        said.textContent = this.t('Learning …');
        try {
            await this.recorder.sync();
            await this.outbox.flush();
            const { jobs } = await this.hub.post('/jobs/run', { persona_id: persona, wait: true }, 60_000);
            await this.refresh();
            said.textContent = learnedText(jobs, this.t);
        } catch (error) {
            // The hub knows no talk of this character, or none that it has not read.
            said.textContent = error.status === 404 ? this.t('There is nothing new to learn from.') : explained(error, this.t);
        }
    }

    async #test() {
        const result = this.#at('pm_test_result');
        result.textContent = this.t('Asking …');
        try {
            const { version } = await this.hub.get('/capabilities', {}, 5_000);
            await this.hub.get('/persona/list', {}, 5_000); // some hubs show the former to everybody
            result.textContent = `${this.t('Connected.')} Plastic Memories ${version}`;
            this.#dot('ok');
            this.notices.success();
            await this.outbox.flush();
        } catch (error) {
            result.textContent = explained(error, this.t);
            this.#dot('bad');
        }
    }

    #changed(path, value) {
        const settings = this.settings();
        if (path === 'enabled' && value) settings.enabledSince = Date.now() / 1000;
        this.context().saveSettingsDebounced();
        this.#showRewrite();
        if (path === 'enabled' || path === 'perChat') this.refresh();
        if (CONNECTION.includes(path)) this.#dot('off');
    }

    #showRewrite() {
        this.#at('pm_rewrite').hidden = !this.settings().mem0_query_rewrite_enabled;
    }
}

/** Say what came of learning. */
function learnedText(jobs, t) {
    const failed = jobs.find((job) => ['failed', 'dead'].includes(job.status));
    if (failed) return `${t('The hub could not learn from this:')} ${failed.error_message}`;
    if (jobs.some((job) => job.status !== 'completed')) return t('The hub is still learning. Look again in a moment.');
    const count = jobs.flatMap((job) => job.memory_ids).length;
    return count ? `${t('Learned:')} ${count}` : t('There is nothing new to learn from.');
}
