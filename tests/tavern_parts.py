"""A real SillyTavern with the extension in it, and somebody who sits before it."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from fake_upstream import FakeUpstream
from harness import Json, Server

if TYPE_CHECKING:  # only those who test with real clients have it
    from playwright.sync_api import Locator, Page

EXTENSION = Path(__file__).parents[1] / "integrations" / "sillytavern"
Meet = Callable[..., str]
_START_S = 180
_REPLY_MS = 20_000


def settings_of(home: Path, upstream_url: str, extension: Json) -> Json:
    """Return SillyTavern's default settings, connected to a model, with those of the extension."""
    default: Json = json.loads((home / "default" / "content" / "settings.json").read_text("utf-8"))
    model = {
        "chat_completion_source": "custom",
        "custom_url": upstream_url,
        "custom_model": "m1",
        "stream_openai": False,
    }
    default["extension_settings"]["plastic_memories"] = extension
    return {
        **default,
        "firstRun": False,
        "main_api": "openai",
        "oai_settings": {**default["oai_settings"], **model},
        "power_user": {**default["power_user"], "auto_connect": True, "reduced_motion": True},
    }


@contextmanager
def sillytavern(home: Path, folder: Path, settings: Json | None = None) -> Iterator[str]:
    """Start SillyTavern with a data folder of its own; the extension lies where users put it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    user = folder / "data" / "default-user"
    user.mkdir(parents=True)
    if settings is not None:
        (user / "settings.json").write_text(json.dumps(settings), "utf-8")
        shutil.copytree(EXTENSION, user / "extensions" / "PlasticMemories")
    command = ["node", "server.js", "--configPath", str(folder / "config.yaml")]
    options = ["--dataRoot", str(folder / "data"), "--browserLaunchEnabled", "false"]
    with (folder / "sillytavern.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *options, "--port", str(port)],
            cwd=home,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(process, f"{url}/csrf-token")
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait_for(process: subprocess.Popen[bytes], url: str) -> None:
    """Ask until SillyTavern answers: it has no other way to say that it is ready."""
    end = time.monotonic() + _START_S
    while time.monotonic() < end:
        assert process.poll() is None, "SillyTavern ended while it started"
        try:
            httpx.get(url, timeout=5)
        except httpx.TransportError:
            time.sleep(0.2)
        else:
            return
    raise TimeoutError("SillyTavern does not start")


def prompt_of(model: FakeUpstream) -> str:
    """Return all that a model was given the last time, as one text."""
    return json.dumps(model.last.messages, ensure_ascii=False)


@dataclass
class Desk:
    """The page, and what one does there."""

    page: Page
    url: str
    hub_calls: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)

    def open(self) -> Desk:
        self.page.goto(self.url)
        self.page.wait_for_selector("#plastic_memories", state="attached", timeout=60_000)
        self.until("() => SillyTavern.getContext().onlineStatus !== 'no_connection'")
        return self

    def run(self, script: str, *given: Any) -> Any:
        """Run a function in the page; it gets SillyTavern's context, and what is given."""
        return self.page.evaluate(
            f"(given) => ({script})(SillyTavern.getContext(), ...given)", list(given)
        )

    def until(self, script: str, *given: Any) -> None:
        self.page.wait_for_function(script, arg=list(given), timeout=_REPLY_MS)

    def new_character(self, name: str, greeting: str = "") -> str:
        """Make a character; return the file name of its card."""
        avatar: str = self.run(
            """async (context, name, greeting) => {
                const form = new FormData();
                form.append('ch_name', name);
                form.append('first_mes', greeting);
                const { 'Content-Type': _type, ...headers } = context.getRequestHeaders();
                const answer = await fetch('/api/characters/create', {
                    method: 'POST', headers, body: form,
                });
                await context.getCharacters();
                return await answer.text();
            }""",
            name,
            greeting,
        )
        return avatar

    def sit_with(self, avatar: str) -> None:
        """Open the last chat with a character."""
        self.run(
            """async (context, avatar) => {
                const index = context.characters.findIndex((one) => one.avatar === avatar);
                const isHere = () => SillyTavern.getContext().characterId == index;
                // While a chat is being saved, SillyTavern stays in it.
                for (let i = 0; i < 50 && !isHere(); i++) {
                    await context.selectCharacterById(index);
                    if (!isHere()) await new Promise((resolve) => setTimeout(resolve, 200));
                }
            }""",
            avatar,
        )
        self.until("() => SillyTavern.getContext().chatMetadata.integrity")
        self.settled()

    def command(self, text: str) -> None:
        self.run("(context, text) => context.executeSlashCommandsWithOptions(text)", text)

    def new_chat(self) -> None:
        before = self.chat_id
        self.command("/newchat")
        self.until(
            "([before]) => ![before, undefined].includes(SillyTavern.getContext().chatId)", before
        )

    @property
    def chat_id(self) -> str:
        found: str = self.run("(context) => context.chatId")
        return found

    def say(self, text: str) -> str:
        """Type a message, send it, wait for the reply and until the hub knows both."""
        self.send(text)
        self.settled()
        return self.texts[-1]

    def send(self, text: str) -> None:
        """Type a message, send it, and wait for the reply."""
        before = len(self.texts)
        self.page.fill("#send_textarea", text)
        self.page.click("#send_but")
        self.idle(before + 2)

    def idle(self, at_least: int = 0) -> None:
        """Wait until nothing is being written."""
        self.until(
            """([count]) => {
                const { chat, streamingProcessor } = SillyTavern.getContext();
                return chat.length >= count && !streamingProcessor
                    && document.body.dataset.generating !== 'true';
            }""",
            at_least,
        )

    def settled(self) -> None:
        """Wait until nothing is left to tell the hub."""
        self.until("() => document.getElementById('plastic_memories').dataset.busy === 'false'")

    def swipe(self, direction: str = "right") -> None:
        """Ask for another reply, or go back to an earlier one."""
        before = self.texts[-1]
        with self.change():
            self.page.locator(f".last_mes .swipe_{direction}").click()
            self.until(
                "([before]) => !['...', before].includes(SillyTavern.getContext().chat.at(-1).mes)",
                before,
            )
            self.idle()

    def edit(self, index: int, text: str) -> None:
        """Edit a message as one does: pencil, other words, tick."""
        message = self.page.locator(f".mes[mesid='{index}']")
        message.hover()
        message.locator(".mes_edit").click()
        message.locator(".edit_textarea").fill(text)
        with self.change():
            message.locator(".mes_edit_done").click()

    @contextmanager
    def change(self) -> Iterator[None]:
        """Do something to the chat; wait until the extension has seen it and told the hub."""
        self.page.evaluate(
            """() => {
                globalThis.sawChange = false;
                const root = document.getElementById('plastic_memories');
                new MutationObserver((_, observer) => {
                    globalThis.sawChange ||= root.dataset.busy === 'true';
                    if (globalThis.sawChange) observer.disconnect();
                }).observe(root, { attributes: true });
            }"""
        )
        yield
        self.until("() => globalThis.sawChange")
        self.settled()

    def branch_at(self, index: int) -> None:
        before = self.chat_id
        message = self.page.locator(f".mes[mesid='{index}']")
        message.hover()
        message.locator(".extraMesButtonsHint").click()
        message.locator(".mes_create_branch").click()
        self.until("([before]) => SillyTavern.getContext().chatId !== before", before)
        self.until("([count]) => SillyTavern.getContext().chat.length === count", index + 1)

    def delete_chat(self, file: str) -> None:
        """Delete a chat file as one does: manage chat files, bin, yes."""
        self.page.evaluate("document.getElementById('option_select_chat').click()")
        row = self.page.locator(".select_chat_block_wrapper", has_text=file)
        row.locator(f".PastChat_cross[file_name='{file}']").click()
        self.page.locator(".popup-button-ok:visible").click()
        self.forgot_chat(file)
        # SillyTavern shows the list again after a while.
        self.page.locator("#select_chat_cross").click(timeout=_REPLY_MS)
        self.page.locator("#shadow_select_chat_popup").wait_for(state="hidden")

    def forgot_chat(self, file: str) -> None:
        """Wait until the extension has reported a chat as deleted, and the hub knows it."""
        self.until(
            """([file]) => {
                const { chats } = SillyTavern.getContext().extensionSettings.plastic_memories;
                return !Object.values(chats).some((files) => file in files);
            }""",
            file,
        )
        self.settled()

    def sit_with_group(self, avatars: list[str], chat: str = "g1") -> None:
        """Make a group in which everybody answers, and open its chat."""
        self.run(
            """async (context, avatars, chat) => {
                const answer = await fetch('/api/groups/create', {
                    method: 'POST',
                    headers: context.getRequestHeaders(),
                    body: JSON.stringify({
                        name: 'group', members: avatars, avatar_url: 'img/five.png',
                        allow_self_responses: false, activation_strategy: 1, disabled_members: [],
                        chat_metadata: {}, fav: false, chat_id: chat, chats: [chat],
                    }),
                });
                const group = await answer.json();
                await context.getCharacters();
                const { openGroupById } = await import('/scripts/group-chats.js');
                await openGroupById(group.id);
            }""",
            avatars,
            chat,
        )
        self.until("([chat]) => SillyTavern.getContext().chatId === chat", chat)

    @property
    def avatar(self) -> str:
        found: str = self.run("(context) => context.characters[context.characterId].avatar")
        return found

    def get(self, name: str) -> Any:
        return self.run("(context, name) => context.extensionSettings.plastic_memories[name]", name)

    @property
    def texts(self) -> list[str]:
        found: list[str] = self.run("(context) => context.chat.map((one) => one.mes)")
        return found

    @property
    def session(self) -> str:
        found: str = self.run("(context) => context.chatMetadata.plastic_memories.session")
        return found

    def persona(self, avatar: str) -> str:
        found: str = self.run(
            "(context, avatar) =>"
            " context.extensionSettings.plastic_memories.characters[avatar].persona",
            avatar,
        )
        return found

    def set(self, path: str, value: Any) -> None:
        """Change a setting of the extension."""
        self.run(
            """(context, path, value) => {
                const names = path.split('.');
                const last = names.pop();
                const all = context.extensionSettings.plastic_memories;
                names.reduce((part, name) => part[name], all)[last] = value;
            }""",
            path,
            value,
        )

    def show_panel(self, tab: str) -> None:
        """Open the extension's panel at one of its tabs."""
        if self.page.locator("#rm_extensions_block.closedDrawer").count():
            self.page.click("#extensions-settings-button > .drawer-toggle")
        self.page.locator("#rm_extensions_block.openDrawer").wait_for()
        panel = self.page.locator("#plastic_memories")
        if not panel.locator(".pm-tabs").is_visible():
            panel.locator(".inline-drawer-toggle").click()
        panel.locator(f"[data-tab={tab}]").click()

    def memory(self, text: str) -> Locator:
        """Return the row of a memory in the panel."""
        return self.page.locator(
            "#pm_memories .pm-item", has=self.page.get_by_text(text, exact=True)
        )

    def close_panel(self) -> None:
        self.page.click("#extensions-settings-button > .drawer-toggle")
        self.page.locator("#rm_extensions_block.closedDrawer").wait_for(state="attached")


class Known:
    """What the hub knows, asked past SillyTavern."""

    def __init__(self, hub: Server) -> None:
        self.http = httpx.Client(base_url=hub.url, headers={"X-API-Key": "devkey"}, timeout=30)

    def ask(self, method: str, path: str, **more: Any) -> Json:
        given = {"params": more} if method == "GET" else {"json": more}
        answer = self.http.request(method, path, **given)  # type: ignore[arg-type]
        assert answer.status_code == 200, answer.text
        data: Json = answer.json()["data"]
        return data

    def digest(self, persona: str) -> None:
        self.ask("POST", "/jobs/run", persona_id=persona, wait=True)

    def digested(self, text: str, persona: str) -> None:
        """Have a persona learn from something the user says."""
        self.ask("POST", "/messages/append", persona_id=persona, role="user", content=text)
        self.digest(persona)

    def until_kept(self, persona: str, text: str) -> list[str]:
        """Wait until a message is stored, which happens after the reply; return all of them."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            found = [one["content"] for one in self.messages(persona)]
            if text in found:
                return found
            time.sleep(0.1)
        raise TimeoutError("the message was not kept")

    def memories(self, persona: str, **more: Any) -> str:
        found = self.ask("GET", "/memory/list", persona_id=persona, limit=200, **more)
        return "\n".join(row["content"] for row in found["items"] if row["type"] != "summary")

    def messages(self, persona: str, **more: Any) -> list[Json]:
        """Return what was said, oldest first."""
        found = self.ask("GET", "/messages/recent", persona_id=persona, limit=100, **more)
        return [*reversed(found["messages"])]
