// The panel among SillyTavern's extension settings.
import { explained } from './explained.js';
import { bindForm } from './form.js';
import { Inbox } from './inbox.js';
import { InjectedView } from './injected.js';
import { MemoryList } from './memories.js';

const TYPING_MS = 300;

export class Panel {
    /** @param {object} parts context, settings, hub, outbox, recorder, notices, persona, t */
    constructor(root, parts) {
        Object.assign(this, parts, { root });
        this.memories = new MemoryList({ ...parts, root: this.#at('pm_memories') });
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
        if (!this.settings().enabled) return;
        try {
            await Promise.all([this.tab === 'memories' && this.memories.refresh(), this.inbox.refresh()]);
            this.#dot('ok');
            this.notices.success();
        } catch (error) {
            this.#dot('bad');
            this.notices.problem(error);
        }
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
        this.#at('pm_dot').dataset.state = state;
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
        this.#at('pm_test').addEventListener('click', () => this.#test());
        this.#at('pm_story').addEventListener('change', (event) => {
            this.recorder.setRealm(event.target.checked ? 'story' : 'real');
        });
        this.#at('pm_whole_chat').addEventListener('click', () => this.recorder.tellWholeChat());
        this.#at('pm_learn_now').addEventListener('click', () => this.#learnNow());
    }

    async #learnNow() {
        const persona = this.persona();
        if (!persona) return;
        try {
            await this.recorder.sync();
            await this.outbox.flush();
            await this.hub.post('/jobs/run', { persona_id: persona, wait: true }, 60_000);
            await this.refresh();
        } catch (error) {
            if (error.status !== 404) this.notices.problem(error);
        }
    }

    async #test() {
        const result = this.#at('pm_test_result');
        result.textContent = this.t('Asking …');
        try {
            const { version } = await this.hub.get('/capabilities', {}, 5_000);
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
    }

    #showRewrite() {
        this.#at('pm_rewrite').hidden = !this.settings().mem0_query_rewrite_enabled;
    }
}
