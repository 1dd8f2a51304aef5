"""Exceptions of the SDK, one for each error code of the hub.

PlasticMemoriesClientError
├── PlasticMemoriesError      the hub answered with an error
│   ├── BadRequest            the request cannot be parsed
│   │   └── TemplateError     a persona template is missing, broken or outside its root
│   ├── JudgeDenied           the text is valid and refused (detail: reason, category)
│   ├── ValidationFailed      a field is invalid (detail: list of {loc, msg, type})
│   ├── Unauthorized          no key, or a wrong one
│   ├── Forbidden             the key may not do this
│   ├── NotFound              no such object for this caller
│   ├── MethodNotAllowed      the path does not support this method
│   ├── Conflict              the state of the object forbids it
│   │   ├── NeedsSupersedes   the slot has an active memory (detail: active_memory_id, ...)
│   │   └── Expired           the candidate is past its expiry
│   ├── PayloadTooLarge       the body is over the hub's limit
│   ├── RateLimited           too many requests; see `retry_after_s`
│   ├── Unavailable           a component of the hub cannot answer now
│   └── InternalError         a bug in the hub
├── UnreadableAnswer          the response is not one of a hub
├── EventsClosed              the hub closed the event stream with a reason
└── ServerUnreachable         nothing answered
    └── TimedOut              not in time

The older SDK called UnreadableAnswer PlasticMemoriesProtocolError, and ServerUnreachable
PlasticMemoriesTransportError.
"""

from __future__ import annotations

from typing import Any, ClassVar


class PlasticMemoriesClientError(Exception):
    """Base of all errors, with the hub's `code`, `message`, `detail`, `status` and `request_id`."""

    default_code: ClassVar[str] = "client_error"

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        detail: Any = None,
        status: int = 0,
        request_id: str = "",
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.detail = detail
        self.status = status
        self.request_id = request_id
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"

    @property
    def details(self) -> Any:
        """The older name of `detail`."""
        return self.detail

    @property
    def status_code(self) -> int:
        """The older name of `status`."""
        return self.status


class PlasticMemoriesError(PlasticMemoriesClientError):
    """The hub answered with an error."""


class BadRequest(PlasticMemoriesError):
    default_code = "bad_request"


class TemplateError(BadRequest):
    default_code = "template_error"


class JudgeDenied(PlasticMemoriesError):
    default_code = "judge_deny"


class ValidationFailed(PlasticMemoriesError):
    default_code = "validation_error"


class Unauthorized(PlasticMemoriesError):
    default_code = "unauthorized"


class Forbidden(PlasticMemoriesError):
    default_code = "forbidden"


class NotFound(PlasticMemoriesError):
    default_code = "not_found"


class MethodNotAllowed(PlasticMemoriesError):
    default_code = "method_not_allowed"


class Conflict(PlasticMemoriesError):
    default_code = "conflict"


class NeedsSupersedes(Conflict):
    default_code = "conflict_requires_supersedes"


class Expired(Conflict):
    default_code = "expired"


class PayloadTooLarge(PlasticMemoriesError):
    default_code = "payload_too_large"


class RateLimited(PlasticMemoriesError):
    default_code = "rate_limited"


class Unavailable(PlasticMemoriesError):
    default_code = "unavailable"


class InternalError(PlasticMemoriesError):
    default_code = "internal_error"


class UnreadableAnswer(PlasticMemoriesClientError):
    default_code = "unreadable_answer"


class EventsClosed(PlasticMemoriesClientError):
    default_code = "events_closed"


class ServerUnreachable(PlasticMemoriesClientError):
    default_code = "server_unreachable"


class TimedOut(ServerUnreachable):
    default_code = "timed_out"


PlasticMemoriesProtocolError = UnreadableAnswer
PlasticMemoriesTransportError = ServerUnreachable


# Base classes by status: a code unknown to this version is still caught by its base class.
BY_STATUS: dict[int, type[PlasticMemoriesError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: MethodNotAllowed,
    409: Conflict,
    413: PayloadTooLarge,
    422: ValidationFailed,
    429: RateLimited,
    500: InternalError,
    503: Unavailable,
}
_NARROWER: tuple[type[PlasticMemoriesError], ...] = (
    TemplateError,
    JudgeDenied,
    NeedsSupersedes,
    Expired,
)
BY_CODE = {kind.default_code: kind for kind in (*BY_STATUS.values(), *_NARROWER)}


def error_class(code: str, status: int) -> type[PlasticMemoriesError]:
    """Return the class of an error: by its code, else by its status."""
    return BY_CODE.get(code) or BY_STATUS.get(status, PlasticMemoriesError)
