"""An S3-compatible server that checks signatures: `rclone serve s3` on a folder."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ACCESS_KEY, SECRET_KEY, BUCKET = "hub", "a-secret-of-the-test", "conversations"
_PATIENCE_S = 20.0


@dataclass(frozen=True)
class S3Server:
    port: int

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> dict[str, str]:
        """The settings of a hub that archives here."""
        return {
            "archive": "s3", "s3_bucket": BUCKET, "s3_endpoint": self.endpoint,
            "s3_region": "us-east-1", "s3_access_key": ACCESS_KEY, "s3_secret_key": SECRET_KEY,
            "s3_addressing": "path",
        }  # fmt: skip


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(folder: Path, port: int) -> Iterator[S3Server]:
    """Serve a folder as buckets until the block ends."""
    (folder / BUCKET).mkdir(parents=True, exist_ok=True)
    rclone = Path(sys.executable).with_name("rclone")
    assert rclone.exists(), "rclone is missing: make test-services installs it"
    arguments = ["serve", "s3", "--addr", f"127.0.0.1:{port}"]
    arguments += ["--auth-key", f"{ACCESS_KEY},{SECRET_KEY}", str(folder)]
    process = subprocess.Popen([rclone, *arguments], stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, process)
        yield S3Server(port)
    finally:
        process.terminate()
        process.wait(timeout=_PATIENCE_S)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        assert process.poll() is None, "rclone ended at once"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError("rclone does not listen")
