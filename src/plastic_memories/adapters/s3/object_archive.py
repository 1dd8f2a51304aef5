"""Archive in an S3-compatible object store: AWS, MinIO, TOS, OSS."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from plastic_memories.errors import InvalidSetting, Unavailable
from plastic_memories.ports.archive import Archive

if TYPE_CHECKING:
    from botocore.client import BaseClient

T = TypeVar("T")
logger = logging.getLogger(__name__)
_CONNECT_TIMEOUT_S = 5
_READ_TIMEOUT_S = 20
# The job that archives is retried for days; one call is not.
_ATTEMPTS = 2
_MAX_DELETED_AT_ONCE = 1000
_LIFECYCLE_RULE = "plastic-memories"
# A bucket or key that does not exist; every other refusal may be mended by an operator.
_MISSING = frozenset({"NoSuchKey", "404"})


class _Settings(Protocol):
    @property
    def s3_bucket(self) -> str: ...
    @property
    def s3_prefix(self) -> str: ...
    @property
    def s3_endpoint(self) -> str: ...
    @property
    def s3_region(self) -> str: ...
    @property
    def s3_access_key(self) -> str: ...
    @property
    def s3_secret_key(self) -> str: ...
    @property
    def s3_addressing(self) -> str: ...
    @property
    def s3_expire_days(self) -> int | None: ...


class _Context(Protocol):
    @property
    def settings(self) -> _Settings: ...


class S3Archive:
    is_enabled = True

    def __init__(
        self, client: BaseClient, bucket: str, prefix: str = "", expire_days: int | None = None
    ) -> None:
        self._client: Any = client  # its methods are made at run time
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._expire_days = expire_days  # None once the store knows

    async def put(self, path: str, text: str) -> None:
        if self._expire_days is not None:
            await self._set_life_cycle(self._expire_days)
        await self._run_in_thread(
            lambda: self._client.put_object(
                Bucket=self._bucket,
                Key=self._key(path),
                Body=text.encode(),
                ContentType="application/json",
            )
        )

    async def get(self, path: str) -> str | None:
        return await self._run_in_thread(lambda: self._get(path))

    async def remove(self, path: str) -> bool:
        return await self._run_in_thread(lambda: self._remove(path))

    async def names_in(self, folder: str) -> list[str]:
        return await self._run_in_thread(lambda: self._names_in(folder))

    async def remove_under(self, folder: str) -> int:
        return await self._run_in_thread(lambda: self._remove_under(folder))

    async def _set_life_cycle(self, days: int) -> None:
        """Let the store itself delete objects of this archive after some days."""
        self._expire_days = None
        rule = {
            "ID": _LIFECYCLE_RULE,
            "Status": "Enabled",
            "Filter": {"Prefix": self._prefix},
            "Expiration": {"Days": days},
        }
        try:
            await self._run_in_thread(
                lambda: self._client.put_bucket_lifecycle_configuration(
                    Bucket=self._bucket, LifecycleConfiguration={"Rules": [rule]}
                )
            )
        except Unavailable as error:
            # Conversations are archived all the same; the rule can be set in the store by hand.
            logger.warning("archive.life_cycle", extra={"fields": {"err": error.message}})

    def _get(self, path: str) -> str | None:
        from botocore.exceptions import ClientError  # noqa: PLC0415 - an optional extra

        try:
            found = self._client.get_object(Bucket=self._bucket, Key=self._key(path))
        except ClientError as error:
            if _code(error) in _MISSING:
                return None
            raise
        body: bytes = found["Body"].read()
        return body.decode()

    def _remove(self, path: str) -> bool:
        # Deleting says nothing about what was there.
        existed = any(key == self._key(path) for key in self._keys(self._key(path)))
        self._client.delete_object(Bucket=self._bucket, Key=self._key(path))
        return existed

    def _names_in(self, folder: str) -> list[str]:
        start = self._key(folder) + "/"
        names = (key.removeprefix(start) for key in self._keys(start, delimiter="/"))
        return [name for name in names if name]

    def _remove_under(self, folder: str) -> int:
        keys = list(self._keys(self._key(folder) + "/"))
        for first in range(0, len(keys), _MAX_DELETED_AT_ONCE):
            batch = [{"Key": key} for key in keys[first : first + _MAX_DELETED_AT_ONCE]]
            answer = self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": batch})
            if failed := answer.get("Errors"):
                raise Unavailable(f"The archive did not delete {len(failed)} objects.")
        return len(keys)

    def _keys(self, start: str, delimiter: str = "") -> Iterator[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=start, Delimiter=delimiter
        )
        for page in pages:
            yield from (entry["Key"] for entry in page.get("Contents", ()))

    def _key(self, path: str) -> str:
        return self._prefix + path

    @staticmethod
    async def _run_in_thread(work: Callable[[], T]) -> T:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        try:
            return await asyncio.to_thread(work)
        except ClientError as error:
            raise Unavailable(f"The archive refused a request: {_code(error)}.") from error
        except (BotoCoreError, OSError) as error:
            raise Unavailable(f"The archive cannot be reached: {type(error).__name__}.") from error


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", "unknown"))


def s3(context: _Context) -> Archive:
    """Return an archive in the configured bucket."""
    settings = context.settings
    if not settings.s3_bucket:
        raise InvalidSetting("ARCHIVE=s3 needs PLASTIC_MEMORIES_S3_BUCKET.")
    return S3Archive(
        _client(settings), settings.s3_bucket, settings.s3_prefix, settings.s3_expire_days
    )


def _client(settings: _Settings) -> BaseClient:
    try:
        from boto3.session import Session  # noqa: PLC0415 - an optional extra
        from botocore.config import Config  # noqa: PLC0415
    except ImportError as error:
        raise InvalidSetting(
            "ARCHIVE=s3 needs boto3: pip install '.[s3]' in the folder of Plastic Memories."
        ) from error
    session = Session(
        aws_access_key_id=settings.s3_access_key or None,
        aws_secret_access_key=settings.s3_secret_key or None,
        region_name=settings.s3_region or None,
    )
    client: BaseClient = session.client(
        "s3",
        endpoint_url=settings.s3_endpoint or None,
        config=Config(
            connect_timeout=_CONNECT_TIMEOUT_S,
            read_timeout=_READ_TIMEOUT_S,
            retries={"max_attempts": _ATTEMPTS, "mode": "standard"},
            s3={"addressing_style": settings.s3_addressing},
            # Stores other than Amazon's do not know its newer checksums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )
    return client
