// From a report in the outbox to a call of the hub.
import { NotNow } from './outbox.js';

export const SOURCE_APP = 'sillytavern';
const LONGEST_TEXT = 30_000;

/** Return a function for the outbox: it delivers reports that go to the same place. */
export function delivery(hub, { onProblem, onSuccess }) {
    return async (reports) => {
        try {
            const [path, body] = callFor(reports);
            await hub.post(path, body);
            onSuccess(reports);
        } catch (error) {
            if (error.isPassing) {
                onProblem(error);
                throw new NotNow(error.kind);
            }
            // What the hub does not know, it need not unlearn; what it refuses once, it refuses
            // always. Neither may block what comes after it.
            if (error.status === 404) onSuccess(reports);
            else onProblem(error);
        }
    };
}

function callFor(reports) {
    const [report] = reports;
    const place = { persona_id: report.persona, session_id: report.session };
    const one = { ...place, client_msg_id: report.id };
    switch (report.kind) {
        case 'append':
            return ['/messages/append', appended(report, reports)];
        case 'edit':
        case 'replace':
            return [`/messages/${report.kind}`, { ...one, content: cut(report.text) }];
        case 'delete':
            return ['/messages/delete', one];
        case 'delete_chat':
            return ['/messages/delete', { ...place, all: true, keep_branches: report.keep }];
        case 'branch':
            return ['/messages/branch',
                { ...place, branch_id: report.branch, from_client_msg_id: report.from }];
        case 'realm':
            return ['/sessions/update', { ...place, source_app: SOURCE_APP, realm: report.realm }];
        case 'end':
            return ['/sessions/end', place];
        case 'persona':
            return ['/persona/create', { persona_id: report.persona, display_name: report.name }];
        case 'forget':
            return ['/memory/forget', { persona_id: report.persona, memory_id: report.memory }];
        default:
            throw new TypeError(`There is no report of the kind ${report.kind}.`);
    }
}

function appended({ persona, session, branch, isGroup }, reports) {
    return {
        persona_id: persona,
        session_id: session,
        branch_id: branch || undefined,
        source_app: SOURCE_APP,
        message_type: isGroup ? 'group' : 'private',
        messages: reports.map((one) => ({
            role: one.role,
            content: cut(one.text),
            speaker: one.speaker || undefined,
            ts: one.ts || undefined,
            client_msg_id: one.id,
        })),
    };
}

function cut(text) {
    return text.slice(0, LONGEST_TEXT);
}
