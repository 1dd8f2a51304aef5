// What to ask the hub for. Pure functions.

/** Return the last thing the user said, and what came before it. */
export function questionIn(chat, { contextMessages, maxQueryLength }) {
    const said = chat.filter((message) => !message.is_system && message.mes);
    const last = said.findLastIndex((message) => message.is_user);
    const before = said.slice(0, last < 0 ? said.length : last);
    return {
        // The end of a long message is what is asked for.
        query: last < 0 ? '' : String(said[last].mes).slice(-maxQueryLength),
        recent: contextMessages > 0 ? before.slice(-contextMessages).map(turn) : [],
    };
}

function turn(message) {
    return {
        role: message.is_user ? 'user' : 'assistant',
        content: String(message.mes).slice(0, 4000),
    };
}
