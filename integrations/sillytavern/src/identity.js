// Names that stay: of a character, of a chat, of a message. Pure functions.

const PRIME = 0x01000193;

/** Return 16 hexadecimal digits that depend on every character of the text. */
export function digest(text) {
    let left = 0x811c9dc5;
    let right = 0x9e3779b9;
    for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        left = Math.imul(left ^ unit, PRIME) >>> 0;
        right = Math.imul(right ^ (unit + i), PRIME) >>> 0;
        right = (right ^ (right >>> 13)) >>> 0;
    }
    return [left, right].map((half) => half.toString(16).padStart(8, '0')).join('');
}

/**
 * Return the persona of a card. The file name of the avatar is the card's own within one
 * SillyTavern; the date it was made tells it from an earlier card of the same file name.
 */
export function personaOfCard(card) {
    const made = card.create_date ?? card.data?.extensions?.create_date ?? '';
    const name = String(card.name ?? '').trim().replace(/[\p{C}\s]+/gu, '-').slice(0, 40);
    return `st-${name || 'character'}-${digest(`${card.avatar}\n${made}`).slice(0, 10)}`;
}

/**
 * Return what the register says of a card: `{persona, name}`. A card that was met once keeps its
 * persona whatever it is called later.
 */
export function entryOf(register, card) {
    return { persona: register[card.avatar]?.persona ?? personaOfCard(card), name: card.name };
}

/** Return the register after a card's file got another name. */
export function renamed(register, oldAvatar, newAvatar) {
    const { [oldAvatar]: entry, ...others } = register;
    return entry ? { ...others, [newAvatar]: entry } : register;
}

/** Return the register without a card that is gone. */
export function withoutCard(register, avatar) {
    const { [avatar]: _gone, ...others } = register;
    return others;
}

export function sessionOfChat(integrity) {
    return `st-${integrity}`;
}

/** Return the persona that remembers: the character, or the character in this one chat. */
export function personaFor(persona, session, isPerChat) {
    return isPerChat ? `${persona}~${session}`.slice(0, 200) : persona;
}

/**
 * Return a message's id. It depends on what was said and when, so that a message whose id was
 * not saved in time gets the same one again; `taken` tells equal messages apart.
 */
export function messageId(line, message, taken) {
    const said = [line, message.ts ?? '', message.role, message.name ?? '', message.text];
    const base = `stm-${digest(said.join('\n'))}`;
    let id = base;
    for (let n = 2; taken.has(id); n++) id = `${base}-${n}`;
    return id;
}
