// What this extension needs to know of the open chat, read from SillyTavern's context.
import { groupOf, homeOfGroup } from './register.js';
import { MODULE } from './settings.js';

/** Return the cards that take part in the open chat. */
export function cardsOf(context) {
    const { groupId, groups, characters, characterId } = context;
    if (!groupId) return characterId === undefined ? [] : [characters[characterId]].filter(Boolean);
    const group = groups.find((one) => one.id === groupId);
    return (group?.members ?? [])
        .map((avatar) => characters.find((card) => card.avatar === avatar))
        .filter(Boolean);
}

/** Return where the open chat's file lies. */
export function homeOf({ groupId, characters, characterId }) {
    return groupId ? homeOfGroup(groupId) : characters[characterId]?.avatar;
}

/**
 * Return the chat files that are in a home now, with the metadata of each: a Map. Of a group they
 * are asked for one by one, so those it no longer names must be given.
 */
export async function filesIn(home, context, more = []) {
    const groupId = groupOf(home);
    if (groupId === null) {
        const found = await asked('/api/characters/chats', { avatar_url: home, metadata: true }, context);
        // Without a folder there is an error instead of a list: the card is gone with its chats.
        const rows = Array.isArray(found) ? found : [];
        return new Map(rows.map((one) => [fileName(one.file_name), one.chat_metadata]));
    }
    const group = context.groups.find((one) => String(one.id) === groupId);
    const files = new Map();
    for (const id of new Set([...(group?.chats ?? []), ...more])) {
        const rows = await asked('/api/chats/group/get', { id }, context);
        if (rows.length) files.set(id, rows[0].chat_metadata);
    }
    return files;
}

/** Return the name of a chat without the ending of its file. */
export function fileName(name) {
    return String(name).replace(/\.jsonl$/, '');
}

async function asked(path, body, { getRequestHeaders }) {
    const answer = await fetch(path, {
        method: 'POST', headers: getRequestHeaders(), body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`SillyTavern answers ${path} with ${answer.status}.`);
    return answer.json();
}

/** Return the open chat's messages in the form of the ledger. */
export function messagesOf(context) {
    const last = context.chat.length - 1;
    return context.chat.flatMap((message, index) => {
        const id = idOf(message);
        const text = String(message.mes ?? '').trim();
        // SillyTavern's own notes are of the system and never had an id; one with an id is only
        // hidden from the prompt.
        if (message.is_system && !id) return [];
        const isOpen = isAwaited(message) || (index === last && isStreaming(context));
        if (!text && !isOpen) return [];
        return [{
            index,
            id,
            text,
            isOpen,
            role: roleOf(message),
            name: message.name,
            avatar: message.original_avatar,
            ts: secondsOf(message.send_date, context),
            swipe: message.swipe_id ?? 0,
        }];
    });
}

/** Write ids into the messages, into every version of each, so that no swipe loses them. */
export function writeIds(context, ids) {
    let isNew = false;
    for (const [index, id] of ids) {
        const message = context.chat[index];
        if (idOf(message) !== id) isNew = true;
        message.extra = { ...message.extra, [MODULE]: id };
        for (const version of message.swipe_info ?? []) {
            if (version) version.extra = { ...version.extra, [MODULE]: id };
        }
    }
    return isNew;
}

export function isStreaming({ streamingProcessor: stream }) {
    return Boolean(stream && !stream.isFinished && !stream.isStopped);
}

function idOf(message) {
    const versions = [message, ...(message.swipe_info ?? [])];
    return versions.map((version) => version?.extra?.[MODULE]).find((id) => typeof id === 'string');
}

/** A swipe to the right makes room for a reply that is not there yet. */
function isAwaited(message) {
    return Array.isArray(message.swipes) && message.swipe_id >= message.swipes.length;
}

function roleOf(message) {
    if (message.extra?.type === 'narrator') return 'system';
    return message.is_user ? 'user' : 'assistant';
}

function secondsOf(date, { timestampToMoment }) {
    const at = timestampToMoment(date);
    return at?.isValid() ? at.valueOf() / 1000 : undefined;
}
