"""How long a database is waited for, and the error of who has waited too long."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.errors import Unavailable
from plastic_memories.runtime.threads import TaskTimeout


@dataclass(frozen=True, slots=True)
class DatabaseTimings:
    """How long is waited for what; nobody waits for ever.

    A write is one transaction, and an import may need minutes for it. So there is a short time
    until it must have started, and a long one until it must have ended.
    """

    start_s: float = 20.0
    end_s: float = 600.0
    close_s: float = 10.0
    probe_s: float = 2.0  # between two attempts to write again

    def late_write(self, timeout: TaskTimeout) -> Unavailable:
        """Return the error of a write that takes too long; a started one may be stored later."""
        if timeout.has_started:
            message = f"not done within {self.end_s:g} s. It may still be stored."
        else:
            message = f"not begun within {self.start_s:g} s. Nothing of it is stored."
        return Unavailable(f"The write was {message}", {"may_be_stored": timeout.has_started})


def unavailable_error(cause: BaseException, message: str) -> Unavailable:
    error = Unavailable(message)
    error.__cause__ = cause
    return error
