// The memories of this character: read, change, pin, forget, and take any of that back.
import { dayText } from './dates.js';
import { element, hint, iconButton } from './elements.js';

const UNDO_MS = 8_000;
const LISTED = 100;

export class MemoryList {
    constructor({ root, hub, outbox, persona, locale, t, notices, openInbox }) {
        Object.assign(this, { root, hub, outbox, persona, locale, t, notices, openInbox });
        this.leaving = new Map(); // memory id → name of the report that will have it forgotten
        this.undo = new Map(); // memory id → what it was before the last change
        this.search = '';
        this.asked = 0;
    }

    async refresh() {
        const asked = ++this.asked;
        const persona = this.persona();
        if (!persona) return this.root.replaceChildren(hint(this.t('Open a chat first.')));
        const found = await this.hub.get('/memory/list', {
            persona_id: persona, limit: LISTED, q: this.search || undefined,
        });
        if (asked !== this.asked) return; // a later question was asked meanwhile
        const rows = found.items.map((row) => this.#row(row));
        const shown = rows.length ? rows : await this.#nothing(persona);
        if (asked === this.asked) this.root.replaceChildren(...shown);
    }

    /** Say why the list is empty: what waits for a yes is not remembered yet, but it is there. */
    async #nothing(persona) {
        if (this.search) return [hint(this.t('Nothing matches.'))];
        const { items } = await this.hub.get('/memory/list', {
            persona_id: persona, status: 'candidate', limit: LISTED,
        });
        if (!items.length) return [hint(this.t('Nothing is remembered yet.'))];
        const text = `${this.t('Nothing is confirmed yet. Waiting for your word:')} ${items.length} `;
        return [element('div', { className: 'pm-hint', text }, [
            this.#link(this.t('Inbox'), this.openInbox),
        ])];
    }

    #link(text, onClick) {
        return element('button', { type: 'button', className: 'pm-undo', text, onClick });
    }

    #row(row) {
        const text = element('div', { className: 'pm-text', text: row.content });
        const tools = this.leaving.has(row.id) ? this.#leavingTools(row) : this.#tools(row, text);
        const item = element('article', { className: 'pm-item' }, [
            text,
            element('footer', {}, [
                element('span', { className: 'pm-kind', text: this.t(row.type), title: row.key }),
                ...(row.realm === 'real' ? [] : [element('span', { className: 'pm-kind', text: this.t(row.realm) })]),
                element('time', { text: dayText(row.updated_at, this.locale()) }),
                element('span', { className: 'pm-tools' }, tools),
            ]),
        ]);
        item.dataset.memory = row.id;
        item.classList.toggle('pm-pinned', row.pinned);
        item.classList.toggle('pm-leaving', this.leaving.has(row.id));
        return item;
    }

    #tools(row, text) {
        const before = this.undo.get(row.id);
        const t = this.t;
        return [
            ...(before
                ? [iconButton('fa-rotate-left', t('Undo'), () => this.#change(row, before, false))]
                : []),
            iconButton('fa-thumbtack', row.pinned ? t('Unpin') : t('Pin'),
                () => this.#change(row, { pinned: !row.pinned })),
            iconButton('fa-pencil', t('Edit'), () => this.#edit(row, text)),
            iconButton('fa-trash-can', t('Forget'), () => this.#forget(row)),
        ];
    }

    #leavingTools(row) {
        return [this.#link(this.t('Undo'), () => this.#keep(row))];
    }

    #edit(row, text) {
        const field = element('textarea', { className: 'text_pole', value: row.content, rows: 3 });
        const cancel = () => this.#tell(() => this.refresh());
        const save = () => {
            const content = field.value.trim();
            if (content && content !== row.content) this.#change(row, { content });
            else cancel();
        };
        field.addEventListener('keydown', (event) => {
            if (event.key === 'Enter' && !event.shiftKey) event.preventDefault();
            if (event.key === 'Enter' && !event.shiftKey) save();
            if (event.key === 'Escape') cancel();
        });
        const button = (className, label, onClick) => element('button', {
            type: 'button', className: `menu_button ${className}`, text: label, onClick,
        });
        text.replaceChildren(field, element('div', { className: 'pm-edit' }, [
            button('pm-cancel', this.t('Cancel'), cancel),
            button('pm-save', this.t('Save'), save),
        ]));
        field.focus();
    }

    #change(row, change, canUndo = true) {
        return this.#tell(async () => {
            const done = await this.hub.post('/memory/update', {
                persona_id: row.persona_id ?? this.persona(), memory_id: row.id, ...change,
            });
            this.undo.delete(row.id);
            if (canUndo) {
                const before = Object.keys(change).map((name) => [name, row[name]]);
                // A change is a new version, with an id of its own.
                this.undo.set(done.memory_id ?? row.id, Object.fromEntries(before));
            }
            await this.refresh();
        });
    }

    /** Forgetting cannot be undone, so it starts a little later, even if the page is closed. */
    #forget(row) {
        const persona = row.persona_id ?? this.persona(); // a global row may be another character's
        const report = { kind: 'forget', persona, memory: row.id };
        const [name] = this.outbox.add([report], { dueInMs: UNDO_MS });
        this.leaving.set(row.id, name);
        return this.#tell(() => this.refresh());
    }

    #keep(row) {
        this.outbox.withdraw(this.leaving.get(row.id));
        this.leaving.delete(row.id);
        return this.#tell(() => this.refresh());
    }

    /** The hub has forgotten something. */
    forgotten(memory) {
        this.leaving.delete(memory);
        return this.#tell(() => this.refresh());
    }

    async #tell(work) {
        try {
            await work();
        } catch (error) {
            this.notices.problem(error);
        }
    }
}
