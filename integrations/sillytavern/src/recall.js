// Before a reply: ask the hub what bears on it, and put that into the prompt.
import { questionIn } from './query.js';
import { rewritten } from './rewrite.js';
import { SOURCE_APP } from './delivery.js';

const STABLE = 'plastic_memories_stable';
const TURN = 'plastic_memories_turn';
const LEFT_ALONE = new Set(['quiet', 'impersonate']);
// SillyTavern's numbers.
const POSITIONS = { in_prompt: 0, in_chat: 1, before_prompt: 2 };
const ROLES = { system: 0, user: 1, assistant: 2 };

export class Recall {
    constructor({ context, settings, hub, recorder, notices, onInjected }) {
        Object.assign(this, { context, settings, hub, recorder, notices, onInjected });
    }

    /** Called by SillyTavern before each generation that is no dry run. Never throws. */
    async intercept(chat, type) {
        this.clear();
        const context = this.context();
        const card = context.characters[context.characterId];
        if (!this.settings().enabled || LEFT_ALONE.has(type) || !card) return;
        try {
            const found = await this.#found(chat, card);
            this.#inject(found);
            this.notices.success();
            await this.onInjected({ ...found, character: card.name });
        } catch (error) {
            // A reply without memory is better than no reply.
            this.notices.problem(error);
            await this.onInjected({ problem: error, character: card.name });
        }
    }

    /** Leave nothing behind for generations that must not see it. */
    clear() {
        const { setExtensionPrompt } = this.context();
        for (const name of [STABLE, TURN]) setExtensionPrompt(name, '', POSITIONS.in_chat, 0);
    }

    async #found(chat, card) {
        const settings = this.settings();
        const asked = questionIn(chat, settings.queryEnhancement);
        const meant = settings.mem0_query_rewrite_enabled && asked.query
            ? await rewritten(this.context(), settings, asked)
            : '';
        const answer = await this.hub.post(
            '/memory/recall',
            {
                ...this.recorder.viewpoint(card),
                query: asked.query,
                // Both are searched, and what either finds is ranked together.
                also: meant ? [meant] : [],
                recent_messages: asked.recent,
                source_app: SOURCE_APP,
                budget_tokens: settings.budgetTokens,
                // What was said here is in the prompt already.
                include: ['profile', 'memory'],
                deadline_ms: Math.max(1, Math.round(settings.timeoutMs * 0.8)),
            },
            settings.timeoutMs,
        );
        return { ...answer, meant };
    }

    #inject(found) {
        const { setExtensionPrompt } = this.context();
        const { position, depth, role } = this.settings();
        const where = POSITIONS[position] ?? POSITIONS.in_chat;
        // What seldom changes stands at the beginning, where a prompt cache holds it.
        const top = where === POSITIONS.in_chat ? POSITIONS.in_prompt : where;
        setExtensionPrompt(STABLE, plain(found.stable_block.text), top, 0, false, ROLES[role]);
        setExtensionPrompt(TURN, plain(found.turn_block.text), where, depth, false, ROLES[role]);
    }
}

/** SillyTavern replaces macros in prompts; what somebody said is no macro. */
function plain(text) {
    return text.replaceAll('{{', '{ {').replaceAll('}}', '} }');
}
