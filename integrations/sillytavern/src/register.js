// Which session of the hub belongs to which chat file. Pure functions.
//
// What the hub was told of a chat is kept in the chat, and is gone with it. So this much is kept
// beside the settings: enough to take the whole session back.
//
// register: { home: { file: { session, personas: [persona] } } }; a home is the avatar of a card,
// or that of a group (`homeOfGroup`).

const GROUP = 'group/';

export function homeOfGroup(groupId) {
    return `${GROUP}${groupId}`;
}

/** Return the id of the group that a home belongs to, or null. */
export function groupOf(home) {
    return home.startsWith(GROUP) ? home.slice(GROUP.length) : null;
}

/** Return the register with a chat in it; personas that heard it once stay named. */
export function noted(register, { home, file, session, personas }) {
    const known = register[home]?.[file];
    const before = known?.session === session ? known.personas : [];
    const all = [...new Set([...before, ...personas])];
    if (known && before.length === all.length) return register;
    return { ...register, [home]: { ...register[home], [file]: { session, personas: all } } };
}

/** Return the chats of a file name: two cards may have one of the same name. */
export function named(register, file) {
    return Object.entries(register)
        .filter(([, chats]) => Object.hasOwn(chats, file))
        .map(([home, chats]) => ({ home, file, ...chats[file] }));
}

/** Return the homes in which a session goes on: a chat can be turned into that of a group. */
export function homesOf(register, session) {
    return Object.keys(register).filter((home) =>
        Object.values(register[home]).some((chat) => chat.session === session));
}

export function withoutChat(register, { home, file }) {
    const { [file]: _gone, ...files } = register[home] ?? {};
    const { [home]: _all, ...others } = register;
    return Object.keys(files).length ? { ...others, [home]: files } : others;
}

/** Return the register after a chat's file got another name. */
export function movedChat(register, { home, file, to }) {
    const chat = register[home]?.[file];
    if (!chat) return register;
    const left = withoutChat(register, { home, file });
    return { ...left, [home]: { ...left[home], [to]: chat } };
}

/** Return the branches of a session that the chats left still say, by their metadata's ledgers. */
export function branchesLeft(ledgers, session) {
    const own = ledgers.filter((ledger) => ledger?.session === session);
    return [...new Set(own.map((ledger) => ledger.branch))];
}
