"""A peer as a child process that speaks JSON, one line for each command and each result."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.quality.conversations import Conversation, Memory, Question
from bench.quality.environments import Environments, adapter_of, last_line
from bench.quality.system import LIMIT, CallTime, SystemFailed
from bench.server import cpu_seconds, resident_mb

_ROOT = Path(__file__).parents[2]
_ANSWER_LIMIT_S = 900
# No peer may use a model hub, call a model, or send telemetry.
_QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "MEM0_TELEMETRY": "False",
    "OPENAI_API_KEY": "never-called",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
# Small matrix products are slower on several cores than on one, far more so on a busy machine.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class PeerProcess:
    """A running peer."""

    process: subprocess.Popen[str]
    log: Path

    def open(self, conversation: Conversation) -> None:
        self.request(do="open", conversation=conversation.name)

    def ingest(self, conversation: Conversation, memories: list[Memory]) -> CallTime:
        rows = [asdict(memory) for memory in memories]
        return _call_time(self.request(do="ingest", conversation=conversation.name, memories=rows))

    def wait_until_ready(self) -> float:
        return 0.0

    def embed_questions(self, conversation: Conversation) -> bool:
        """Do nothing: a peer looks every vector up in the cache, and reports that time."""
        return False

    def search(self, conversation: Conversation, question: Question) -> tuple[list[str], CallTime]:
        answer = self.request(
            do="search", conversation=conversation.name, question=question.text, limit=LIMIT
        )
        return answer["ids"], _call_time(answer)

    def memory_mb(self) -> float:
        return resident_mb(self.process.pid)

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.process.pid)

    def request(self, **command: Any) -> dict[str, Any]:
        """Send one command and return its result."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise SystemFailed(last_line(self.log)) from None
        return self.read_result()

    def read_result(self) -> dict[str, Any]:
        """Wait for one result; kill a peer that takes too long."""
        assert self.process.stdout is not None
        ending = threading.Timer(_ANSWER_LIMIT_S, self.process.kill)
        ending.start()
        line = self.process.stdout.readline()
        ending.cancel()
        if not line:
            self.process.wait()
            raise SystemFailed(last_line(self.log))
        found: dict[str, Any] = json.loads(line)
        return found


@contextmanager
def running_peer(environments: Environments, name: str) -> Iterator[PeerProcess]:
    """Run a peer on an empty folder."""
    python = environments.python(name)
    log = environments.log(name)
    with tempfile.TemporaryDirectory() as folder, log.open("w") as errors:
        env = {**os.environ, **_QUIET, **_ONE_THREAD}
        env |= {"PYTHONPATH": str(_ROOT), "MEM0_DIR": folder}
        command = [str(python), "-m", "bench.peers.serve", adapter_of(name), folder]
        with subprocess.Popen(
            [*command, str(environments.vectors)],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
        ) as process:
            peer = PeerProcess(process, log)
            try:
                peer.read_result()
                yield peer
            finally:
                process.kill()


def _call_time(answer: dict[str, Any]) -> CallTime:
    return CallTime(answer["seconds"], answer["embedding_seconds"])
