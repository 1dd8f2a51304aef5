// Plastic Memories in SillyTavern: puts the parts together and listens.
import { delivery } from './src/delivery.js';
import { Hub } from './src/hub.js';
import { Notices } from './src/notices.js';
import { Outbox } from './src/outbox.js';
import { Recall } from './src/recall.js';
import { Recorder } from './src/recorder.js';
import { settingsIn } from './src/settings.js';
import { cardsOf } from './src/tavern.js';
import { explained } from './src/panel/explained.js';
import { Panel } from './src/panel/panel.js';

const context = () => SillyTavern.getContext();
const settings = () => settingsIn(context().extensionSettings);
const t = (text) => context().translate(text);
const locale = () => context().getCurrentLocale?.();
const folder = new URL(import.meta.url).pathname.match(/extensions\/(third-party\/[^/]+)/)[1];

const notices = new Notices((error) => {
    globalThis.toastr.warning(explained(error, t), 'Plastic Memories', { preventDuplicates: true });
});
const hub = new Hub(settings);
let panel = null;
const outbox = new Outbox(
    localStorage,
    delivery(hub, { onProblem: (error) => notices.problem(error), onSuccess: delivered }),
    { locks: navigator.locks },
);
const recorder = new Recorder({ context, settings, outbox });
const recall = new Recall({
    context, settings, hub, recorder, notices, onInjected: (found) => panel?.injected.show(found),
});

globalThis.plasticMemoriesInterceptor = (chat, _size, _abort, type) => recall.intercept(chat, type);

function delivered(reports) {
    notices.success();
    const forgotten = reports.find((report) => report.kind === 'forget');
    if (forgotten) panel?.memories.forgotten(forgotten.memory);
}

/** The character that is looked at; in a group, the one that spoke last, or the first. */
function card() {
    const { characters, characterId } = context();
    return characters[characterId] ?? cardsOf(context())[0] ?? null;
}

function persona() {
    return card() && context().chatMetadata?.integrity
        ? recorder.viewpoint(card()).persona_id
        : null;
}

function listen() {
    const { eventSource, eventTypes: on } = context();
    const changes = [
        on.MESSAGE_SENT, on.MESSAGE_RECEIVED, on.MESSAGE_EDITED, on.MESSAGE_UPDATED,
        on.MESSAGE_DELETED, on.MESSAGE_SWIPED, on.MESSAGE_SWIPE_DELETED,
        on.GENERATION_ENDED, on.GENERATION_STOPPED,
    ];
    for (const change of changes) eventSource.on(change, () => recorder.touch());
    // The prompt is made: what was put in for this reply is not for the next one, nor for a count
    // of tokens.
    for (const end of [on.GENERATION_ENDED, on.GENERATION_STOPPED]) {
        eventSource.on(end, () => recall.clear());
    }
    eventSource.on(on.CHAT_CHANGED, () => {
        recorder.chatChanged();
        panel?.injected.show(null);
        panel?.refresh();
    });
    for (const end of [on.CHAT_DELETED, on.GROUP_CHAT_DELETED]) {
        eventSource.on(end, (name) => recorder.chatDeleted(name));
    }
    eventSource.on(on.CHAT_RENAMED, (change) => recorder.chatRenamed(change));
    eventSource.on(on.CHARACTER_RENAMED, (before, after) => recorder.cardRenamed(before, after));
    eventSource.on(on.CHARACTER_DELETED, (gone) => recorder.cardDeleted(gone?.character?.avatar));
    globalThis.addEventListener('online', () => outbox.flush());
}

async function showPanel() {
    const html = await context().renderExtensionTemplateAsync(folder, 'settings');
    const place = document.getElementById('extensions_settings2');
    place.insertAdjacentHTML('beforeend', html);
    const root = document.getElementById('plastic_memories');
    const parts = { context, settings, hub, outbox, recorder, notices, persona, card, locale, t };
    panel = new Panel(root, parts);
    recorder.onChange = () => panel.showBusy();
    outbox.onChange = () => panel.showBusy();
    panel.showBusy();
}

await showPanel();
listen();
recorder.chatChanged();
outbox.flush();
