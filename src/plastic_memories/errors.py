"""The error tree, and nothing else.

PlasticMemoriesError
├── InvalidInput          the text or fields of the request cannot be used
│   ├── BadRequest        the request as a whole cannot be parsed
│   ├── TemplateError     a persona template is missing, broken or outside its root
│   ├── BodyTooLarge      more bytes than the configured limit
│   └── InvalidSetting    a setting of this installation cannot be used
├── Rejected              the text is valid but refused
├── NotAuthenticated      no key, or a wrong one
├── NotAllowed            the key may not do this
├── NotFound              no such object for this caller
├── WrongMethod           the path exists, but not for this method
├── Conflict              the state of the object forbids it
│   ├── NeedsSupersedes   the slot is taken and the caller did not name what it replaces
│   └── Expired           the candidate is past its expiry
├── TooManyRequests       over the configured rate
├── Unavailable           a component cannot answer now; try later
└── InternalError         a bug
"""

from __future__ import annotations

from typing import Any, ClassVar


class PlasticMemoriesError(Exception):
    """Base of all errors; the HTTP, CLI and client layers decide how to present them."""

    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, detail: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail


class InvalidInput(PlasticMemoriesError):
    code = "validation_error"


class BadRequest(InvalidInput):
    code = "bad_request"


class TemplateError(InvalidInput):
    code = "template_error"


class BodyTooLarge(InvalidInput):
    code = "payload_too_large"


class InvalidSetting(InvalidInput):
    code = "invalid_setting"


class Rejected(PlasticMemoriesError):
    code = "judge_deny"


class NotAuthenticated(PlasticMemoriesError):
    code = "unauthorized"


class NotAllowed(PlasticMemoriesError):
    code = "forbidden"


class NotFound(PlasticMemoriesError):
    code = "not_found"


class WrongMethod(PlasticMemoriesError):
    code = "method_not_allowed"


class Conflict(PlasticMemoriesError):
    code = "conflict"


class NeedsSupersedes(Conflict):
    code = "conflict_requires_supersedes"


class Expired(Conflict):
    code = "expired"


class TooManyRequests(PlasticMemoriesError):
    code = "rate_limited"


class Unavailable(PlasticMemoriesError):
    code = "unavailable"


class InternalError(PlasticMemoriesError):
    code = "internal_error"
