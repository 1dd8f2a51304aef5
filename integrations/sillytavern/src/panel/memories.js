// The memories of this character: read, change, pin, forget, and take any of that back.
import { element, hint, iconButton } from './elements.js';

const UNDO_MS = 8_000;
const LISTED = 100;

export class MemoryList {
    constructor({ root, hub, outbox, persona, t, notices }) {
        Object.assign(this, { root, hub, outbox, persona, t, notices });
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
        this.root.replaceChildren(
            ...(rows.length ? rows : [hint(this.t('Nothing is remembered yet.'))]),
        );
    }

    #row(row) {
        const text = element('div', { className: 'pm-text', text: row.content });
        const tools = this.leaving.has(row.id) ? this.#leavingTools(row) : this.#tools(row, text);
        const item = element('article', { className: 'pm-item' }, [
            text,
            element('footer', {}, [
                element('span', { className: 'pm-kind', text: this.t(row.type), title: row.key }),
                ...(row.realm === 'real' ? [] : [element('span', { className: 'pm-kind', text: this.t(row.realm) })]),
                element('time', { text: new Date(row.updated_at * 1000).toLocaleDateString() }),
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
        const button = element('button', {
            type: 'button',
            className: 'pm-undo',
            text: this.t('Undo'),
            onClick: () => this.#keep(row),
        });
        return [button];
    }

    #edit(row, text) {
        const field = element('textarea', { className: 'text_pole', value: row.content, rows: 3 });
        const save = () => {
            const content = field.value.trim();
            if (content && content !== row.content) this.#change(row, { content });
            else this.#tell(() => this.refresh());
        };
        field.addEventListener('keydown', (event) => {
            if (event.key === 'Enter' && !event.shiftKey) event.preventDefault();
            if (event.key === 'Enter' && !event.shiftKey) save();
            if (event.key === 'Escape') this.#tell(() => this.refresh());
        });
        text.replaceChildren(field, element('div', {
            className: 'menu_button pm-save', text: this.t('Save'), onClick: save,
        }));
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
