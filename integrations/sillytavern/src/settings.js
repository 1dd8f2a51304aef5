// The settings, with the names that other front ends of the hub use as well.

export const MODULE = 'plastic_memories';

export const DEFAULTS = Object.freeze({
    enabled: true,
    baseUrl: 'http://127.0.0.1:8007',
    apiKey: '',
    userId: '',
    timeoutMs: 1500,
    perChat: false,
    position: 'in_chat',
    depth: 1,
    role: 'system',
    budgetTokens: 1000,
    queryEnhancement: Object.freeze({
        contextMessages: 4,
        maxQueryLength: 2000,
        rewriteTimeoutMs: 2000,
        rewriteModel: '',
    }),
    mem0_query_rewrite_enabled: false,
    mem0_query_rewrite_prompt: [
        'Rewrite the last message as one short search query for a memory of the user.',
        'Replace pronouns by what they mean in the conversation.',
        'Keep the language of the message. Answer with the query only.',
    ].join(' '),
    // avatar file → persona: a character that is renamed keeps its memory.
    characters: Object.freeze({}),
    // avatar file → chat file → session: a chat that is deleted can be taken back.
    chats: Object.freeze({}),
});

/** Return the settings that are kept in SillyTavern's own, completed with the defaults. */
export function settingsIn(extensionSettings) {
    const kept = (extensionSettings[MODULE] ??= {});
    for (const [name, value] of Object.entries(DEFAULTS)) kept[name] ??= structuredClone(value);
    for (const [name, value] of Object.entries(DEFAULTS.queryEnhancement)) {
        kept.queryEnhancement[name] ??= value;
    }
    // What was said before the memory was switched on stays between those who said it.
    kept.enabledSince ??= Date.now() / 1000;
    return kept;
}

/** Return the value at a path such as `queryEnhancement.contextMessages`. */
export function valueAt(settings, path) {
    return path.split('.').reduce((part, name) => part[name], settings);
}

export function setAt(settings, path, value) {
    const names = path.split('.');
    const last = names.pop();
    names.reduce((part, name) => part[name], settings)[last] = value;
}
