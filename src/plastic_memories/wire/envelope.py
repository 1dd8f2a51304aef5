"""The envelope of every native response."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

T = TypeVar("T")


class SuccessEnvelope(BaseModel, Generic[T]):
    ok: Literal[True] = True
    request_id: str
    data: T


class ErrorBody(BaseModel):
    code: str
    message: str
    detail: Any = None


class ErrorEnvelope(BaseModel):
    ok: Literal[False] = False
    request_id: str
    error: ErrorBody
