// What the hub is not sure of: the user confirms or rejects it.
import { momentText } from './dates.js';
import { element, hint } from './elements.js';

export class Inbox {
    constructor({ root, counter, hub, persona, locale, t, notices }) {
        Object.assign(this, { root, counter, hub, persona, locale, t, notices });
    }

    async refresh() {
        const persona = this.persona();
        if (!persona) return this.root.replaceChildren();
        const found = await this.hub.get('/memory/list', {
            persona_id: persona, status: 'candidate', limit: 50,
        });
        this.counter.textContent = found.items.length || '';
        const rows = found.items.map((row) => this.#row(row));
        this.root.replaceChildren(...(rows.length ? rows : [hint(this.t('Nothing is waiting.'))]));
    }

    #row(row) {
        const note = element('div', { className: 'pm-hint pm-replaces' });
        const ended = row.replaces.map((one) => one.content).join(' · ');
        if (ended) note.textContent = `${this.t('This would replace:')} ${ended}`;
        const item = element('article', { className: 'pm-item' }, [
            element('div', { className: 'pm-text', text: row.content }),
            ...(row.quote ? [element('blockquote', { text: row.quote })] : []),
            note,
            element('footer', {}, [
                element('span', { className: 'pm-kind', text: this.t(row.type), title: row.key }),
                element('span', { className: 'pm-source', text: this.#source(row) }),
                element('time', { text: momentText(row.created_at, this.locale()) }),
            ]),
            element('footer', {}, [
                element('span', { className: 'pm-tools' }, [
                    this.#button('fa-check', this.t('Confirm'), () => this.#confirm(row, note)),
                    this.#button('fa-xmark', this.t('Reject'), () => this.#decide('reject', row)),
                    this.#button('fa-ban', this.t('Never again'),
                        () => this.#decide('reject', row, { never_again: true })),
                ]),
            ]),
        ]);
        item.dataset.memory = row.id;
        return item;
    }

    /** Say where a statement comes from: who concluded it, in which program, by whose words. */
    #source(row) {
        const t = this.t;
        const kinds = {
            user_explicit: t('said by you'),
            model_inferred: t('concluded from the talk'),
            imported: t('imported'),
            tool: t('written by a program'),
        };
        return [kinds[row.source_type], row.speaker, row.source_app].filter(Boolean).join(' · ');
    }

    #button(icon, text, onClick) {
        return element('button', { type: 'button', className: 'menu_button menu_button_icon', onClick }, [
            element('i', { className: `fa-solid ${icon}` }),
            element('span', { text }),
        ]);
    }

    async #confirm(row, note) {
        try {
            await this.#decide('confirm', row, {}, true);
        } catch (error) {
            if (error.kind !== 'conflict_requires_supersedes') return this.notices.problem(error);
            const { active_memory_id: active, active_content: content } = error.detail;
            note.replaceChildren(
                element('span', { text: `${this.t('This would replace:')} ${content} ` }),
                this.#button('fa-right-left', this.t('Replace'),
                    () => this.#decide('confirm', row, { supersedes_id: active })),
            );
        }
    }

    async #decide(verb, row, more = {}, mayThrow = false) {
        try {
            await this.hub.post(`/memory/${verb}`, {
                persona_id: this.persona(), memory_id: row.id, ...more,
            });
            await this.refresh();
        } catch (error) {
            if (mayThrow) throw error;
            this.notices.problem(error);
        }
    }
}
