// Watches the open chat and reports to the hub, in the background, what is new or changed in it.
import { entryOf, personaFor, renamed, withoutCard } from './identity.js';
import { compare, forked, newLedger } from './ledger.js';
import {
    branchesLeft, homeOfGroup, homesOf, movedChat, named, noted, withoutChat,
} from './register.js';
import { MODULE } from './settings.js';
import {
    cardsOf, fileName, filesIn, homeOf, isStreaming, messagesOf, writeIds,
} from './tavern.js';

const SETTLE_MS = 400;

export class Recorder {
    constructor({ context, settings, outbox, files = filesIn }) {
        Object.assign(this, { context, settings, outbox, files });
        this.timer = null;
        this.looking = null;
        this.last = null; // the chat that was open last, and whether something was said in it
        this.onChange = () => {};
    }

    /** Something happened that was not looked at yet, or is not reported yet. */
    get isBusy() {
        return Boolean(this.timer || this.looking);
    }

    /** A chat was opened, or the same one was loaded again. */
    chatChanged() {
        const place = this.#place();
        if (this.last && this.last.session !== place?.session) this.#endLast();
        if (!place) return;
        this.last = this.last ?? { ...place, isDirty: false };
        this.touch();
    }

    /** Something happened in the chat: look when it has calmed down. */
    touch() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.sync(), SETTLE_MS);
        this.onChange();
    }

    /** Report what has changed since the last time. */
    sync() {
        clearTimeout(this.timer);
        this.timer = null;
        return this.#inTurn(() => this.#look());
    }

    /**
     * A chat file was deleted, of whichever card or group: the event has only its name. This is
     * reported also while the memory is off, for it cannot be found out later.
     */
    chatDeleted(name) {
        return this.#inTurn(() => this.#takeBack(fileName(name)));
    }

    chatRenamed({ avatarId, groupId, oldFileName, newFileName }) {
        const home = groupId ? homeOfGroup(groupId) : avatarId;
        const [file, to] = [oldFileName, newFileName].map(fileName);
        this.#keepRegister(movedChat(this.settings().chats, { home, file, to }));
    }

    async #inTurn(work) {
        const now = Promise.resolve(this.looking).then(work, work);
        this.looking = now;
        this.onChange();
        try {
            await now;
        } finally {
            if (this.looking === now) this.looking = null;
            this.onChange();
        }
    }

    async #look() {
        const context = this.context();
        if (!this.settings().enabled || !this.#place()) return;
        if (isStreaming(context)) return void this.touch();
        const messages = messagesOf(context);
        const kept = this.#ledger(messages);
        const isTalk = messages.some((one) => one.role === 'user' && !one.isOpen);
        if (!isTalk && !Object.keys(kept.ledger.told).length) return;
        const since = kept.ledger.isWhole ? 0 : this.settings().enabledSince;
        const found = compare(messages, kept.ledger, since);
        this.#note(found.ledger);
        const isNew = writeIds(context, found.ids);
        const reports = [...kept.reports, ...found.reports];
        if (!reports.length && !isNew) return;
        const addressed = this.#addressed(reports, found.ledger);
        await this.#save(found.ledger);
        if (!addressed.length) return;
        this.last = { ...this.#place(), isDirty: true };
        this.outbox.add(addressed);
    }

    /** Where the hub keeps what the character that speaks next remembers. */
    viewpoint(card) {
        const ledger = this.#ledger(messagesOf(this.context())).ledger;
        const persona = personaFor(this.#persona(card), ledger.session, this.settings().perChat);
        return { persona_id: persona, session_id: ledger.session, branch_id: ledger.branch };
    }

    /** Tell the hub everything that was said in this chat, also what is older than we are. */
    async tellWholeChat() {
        const { ledger } = this.#ledger(messagesOf(this.context()));
        await this.#save({ ...ledger, told: {}, isWhole: true });
        await this.sync();
    }

    get realm() {
        return this.#place() ? this.#ledger(messagesOf(this.context())).ledger.realm : 'real';
    }

    async setRealm(realm) {
        const { ledger, reports } = this.#ledger(messagesOf(this.context()));
        const next = { ...ledger, realm };
        await this.#save(next);
        this.outbox.add(this.#addressed([...reports, { kind: 'realm', realm }], next));
    }

    cardRenamed(oldAvatar, newAvatar) {
        const settings = this.settings();
        settings.characters = renamed(settings.characters, oldAvatar, newAvatar);
        settings.chats = renamed(settings.chats, oldAvatar, newAvatar);
        this.context().saveSettingsDebounced();
    }

    cardDeleted(avatar) {
        const settings = this.settings();
        settings.characters = withoutCard(settings.characters, avatar);
        this.context().saveSettingsDebounced();
    }

    /** Remember outside of the chat what it takes to take it back once it is gone. */
    #note({ session }) {
        const context = this.context();
        const { perChat, chats } = this.settings();
        const personas = cardsOf(context)
            .map((card) => personaFor(this.#persona(card), session, perChat));
        const chat = { home: homeOf(context), file: fileName(context.chatId), session, personas };
        this.#keepRegister(noted(chats, chat));
    }

    #keepRegister(chats) {
        const settings = this.settings();
        if (settings.chats === chats) return;
        settings.chats = chats;
        this.context().saveSettingsDebounced();
    }

    /**
     * Report the chats of a name whose file is gone. What another file still says, a branch or
     * what it left, stays: the hub is told which branches those are.
     */
    async #takeBack(file) {
        for (const chat of named(this.settings().chats, file)) {
            const { home, session, personas } = chat;
            const left = new Map();
            for (const one of homesOf(this.settings().chats, session)) {
                left.set(one, await this.files(one, this.context(), [file]));
            }
            if (left.get(home).has(file)) continue;
            const ledgers = [...left.values()]
                .flatMap((files) => [...files.values()].map((metadata) => metadata?.[MODULE]));
            const keep = branchesLeft(ledgers, session);
            this.outbox.add(personas.map((persona) => ({ kind: 'delete_chat', persona, session, keep })));
            this.#keepRegister(withoutChat(this.settings().chats, chat));
        }
    }

    #place() {
        const { chatMetadata, chatId } = this.context();
        const cards = cardsOf(this.context());
        if (!cards.length || !chatId || !chatMetadata?.integrity) return null;
        const session = chatMetadata[MODULE]?.session ?? newLedger(chatMetadata.integrity).session;
        return { session, cards };
    }

    /** Return the ledger of the open chat, and what must be reported because it is a new one. */
    #ledger(messages) {
        const { chatMetadata } = this.context();
        const kept = chatMetadata[MODULE];
        if (!kept) return { ledger: newLedger(chatMetadata.integrity), reports: [] };
        if (kept.integrity === chatMetadata.integrity) return { ledger: kept, reports: [] };
        return forked(kept, chatMetadata.integrity, messages);
    }

    async #save(ledger) {
        const { chatMetadata, saveMetadata } = this.context();
        chatMetadata[MODULE] = ledger;
        await saveMetadata(); // with the chat itself: the ids are in its messages
    }

    #endLast() {
        const { session, cards, isDirty } = this.last;
        this.last = null;
        if (!isDirty || !this.settings().enabled) return;
        this.outbox.add(this.#fanOut([{ kind: 'end' }], { session }, cards));
    }

    #addressed(reports, ledger) {
        return this.#fanOut(reports, ledger, cardsOf(this.context()));
    }

    /** Everybody in a group hears what is said: each report goes to each of them. */
    #fanOut(reports, { session, branch }, cards) {
        const isGroup = cards.length > 1;
        return cards.flatMap((card) => {
            const own = this.#persona(card);
            const persona = personaFor(own, session, this.settings().perChat);
            const place = { persona, session, branch, isGroup };
            return reports.map((one) => ({ ...place, ...heardBy(card, one, isGroup) }));
        });
    }

    #persona(card) {
        const settings = this.settings();
        const known = settings.characters[card.avatar];
        const entry = entryOf(settings.characters, card);
        if (known?.name !== entry.name || known?.persona !== entry.persona) {
            settings.characters = { ...settings.characters, [card.avatar]: entry };
            this.context().saveSettingsDebounced();
            this.outbox.add([{ kind: 'persona', persona: entry.persona, name: entry.name }]);
        }
        return entry.persona;
    }
}

/** Say who speaks, as a character hears it: itself, the user, or somebody else by name. */
function heardBy(card, report, isGroup) {
    if (report.kind !== 'append') return report;
    const { name, avatar, ...rest } = report;
    if (!isGroup || rest.role !== 'assistant') return rest;
    const isOwn = avatar === card.avatar;
    return { ...rest, role: isOwn ? 'assistant' : 'user', speaker: name };
}
