// What the last reply was given, and how much room it took.
import { element, hint } from './elements.js';
import { explained } from './explained.js';

export class InjectedView {
    constructor({ root, context, t }) {
        Object.assign(this, { root, context, t });
        this.show(null);
    }

    async show(found) {
        if (!found) return this.root.replaceChildren(hint(this.t('Nothing was injected yet.')));
        if (found.problem) {
            const text = this.t('The last reply was written without memory:');
            return this.root.replaceChildren(hint(`${text} ${explained(found.problem, this.t)}`));
        }
        const [stable, turn] = [found.stable_block.text, found.turn_block.text];
        const [stableTokens, turnTokens] = await Promise.all([stable, turn].map((text) => this.#tokens(text)));
        const parts = [
            this.#head(found, stableTokens + turnTokens),
            this.#block(this.t('Always there'), stable, stableTokens),
            this.#block(this.t('For this message'), turn, turnTokens),
        ];
        if (found.degraded.length) {
            parts.push(hint(`${this.t('Did not answer in time:')} ${found.degraded.join(', ')}`));
        }
        this.root.replaceChildren(...parts);
    }

    #head(found, tokens) {
        return element('div', { className: 'pm-injected-head' }, [
            element('b', { text: found.character }),
            element('span', { className: 'pm-tokens', text: `${tokens} ${this.t('tokens')}` }),
            ...(found.truncated ? [element('span', { className: 'pm-kind', text: this.t('cut to the budget') })] : []),
            ...(found.meant ? [hint(`${this.t('Rewritten as:')} ${found.meant}`)] : []),
        ]);
    }

    #block(title, text, tokens) {
        if (!text) return element('div');
        return element('details', { className: 'pm-block', open: true }, [
            element('summary', {}, [
                element('span', { text: title }),
                element('span', { className: 'pm-tokens', text: `${tokens} ${this.t('tokens')}` }),
            ]),
            element('pre', { text }),
        ]);
    }

    async #tokens(text) {
        return text ? this.context().getTokenCountAsync(text, 0) : 0;
    }
}
