// What the hub was told of a chat, and what it must be told now. Pure functions.
//
// SillyTavern says that something was deleted or edited, not always what. So nothing is built on
// its events: the chat is compared with the ledger, and the differences are the report.
//
// ledger: { session, branch, integrity, realm, forks, told: {id: print}, inherited: {id: print} }
// `told` are this chat's own messages; `inherited` those it shares with the chat it left.
import { digest, messageId, sessionOfChat } from './identity.js';

export function newLedger(integrity) {
    return {
        integrity,
        session: sessionOfChat(integrity),
        branch: '',
        realm: 'real',
        forks: 0,
        told: {},
        inherited: {},
    };
}

/** Return the ledger of a chat that was copied from another: a branch, or a checkpoint. */
export function forked(parent, integrity, messages) {
    const known = { ...parent.inherited, ...parent.told };
    const here = messages.filter((one) => one.id in known);
    const inherited = Object.fromEntries(here.map((one) => [one.id, known[one.id]]));
    const start = { ...parent, integrity, told: {}, inherited, forks: 0 };
    const from = here.at(-1)?.id;
    return from ? branchOff(start, from) : { ledger: newLedger(integrity), reports: [] };
}

/**
 * Compare a chat with its ledger.
 * Messages are `{index, id?, role, text, ts?, swipe, isOpen?}`, oldest first; an open one is still
 * being written. What was said before `since` is known here, but not told.
 * Returns the new ledger, the ids of the messages by index, and the reports to send, in order.
 */
export function compare(given, before, since = 0) {
    const messages = given.filter((one) => one.id || !one.isOpen);
    const { ledger, reports, messages: current } = leaveAlteredPast(messages, before);
    const settled = withIds(current, ledger);
    const told = {};
    for (const one of settled) {
        if (one.id in ledger.inherited) continue;
        const known = ledger.told[one.id];
        told[one.id] = one.isOpen && known ? known : print(one);
        const isOld = known === undefined && one.ts < since;
        const report = one.isOpen || isOld ? null : difference(one, known);
        if (report) reports.push(report);
    }
    const gone = Object.keys(ledger.told).filter((id) => !(id in told));
    reports.push(...gone.map((id) => ({ kind: 'delete', id })));
    const ids = new Map(settled.map((one) => [one.index, one.id]));
    return { ledger: { ...ledger, told }, ids, reports };
}

function difference(message, known) {
    const { id, role, text, name, avatar, ts } = message;
    if (known === undefined) return { kind: 'append', id, role, text, name, avatar, ts };
    const [words, swipe] = known.split('.');
    if (words === digest(text)) return null;
    return { kind: swipe === String(message.swipe ?? 0) ? 'edit' : 'replace', id, text };
}

/**
 * A message that this chat shares with another was changed here only: leave the shared past
 * before it, and tell the rest as this chat's own.
 */
function leaveAlteredPast(messages, ledger) {
    const here = new Map(messages.map((one) => [one.id, one]));
    const past = Object.keys(ledger.inherited);
    const altered = past.findIndex((id) => {
        const one = here.get(id);
        return !one || (!one.isOpen && ledger.inherited[id].split('.')[0] !== digest(one.text));
    });
    if (altered < 0) return { ledger, reports: [], messages };
    const kept = new Set(past.slice(0, altered));
    const reports = Object.keys(ledger.told).map((id) => ({ kind: 'delete', id }));
    const inherited = Object.fromEntries([...kept].map((id) => [id, ledger.inherited[id]]));
    const rest = { ...ledger, told: {}, inherited, forks: ledger.forks + 1 };
    const next = kept.size
        ? branchOff(rest, past[altered - 1])
        : { ledger: apart(rest), reports: [] };
    return {
        ledger: next.ledger,
        reports: [...reports.map((one) => ({ ...one, branch: ledger.branch })), ...next.reports],
        messages: messages.map((one) => (kept.has(one.id) ? one : { ...one, id: undefined })),
    };
}

function branchOff(ledger, from) {
    const branch = `st-${digest(`${ledger.integrity}\n${ledger.forks}`)}`;
    return {
        ledger: { ...ledger, branch },
        reports: [{ kind: 'branch', branch, from }],
    };
}

/** With nothing of the past left, this is another conversation. */
function apart(ledger) {
    return { ...ledger, session: `${sessionOfChat(ledger.integrity)}-${ledger.forks}`, branch: '' };
}

function withIds(messages, ledger) {
    const taken = new Set(messages.map((one) => one.id).filter(Boolean));
    const line = `${ledger.session}\n${ledger.branch}`;
    const seen = new Set();
    return messages.map((one) => {
        // A copied message carries the id of its original.
        const isOwn = one.id && !seen.has(one.id);
        const id = isOwn ? one.id : messageId(line, one, taken);
        taken.add(id);
        seen.add(id);
        return { ...one, id };
    });
}

function print(message) {
    return `${digest(message.text)}.${message.swipe ?? 0}`;
}
