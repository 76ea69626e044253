"""Clients of object stores: one per bucket and process, so that connections are reused."""

import contextlib
import os
import sys
from functools import lru_cache
from typing import Any

import obstore.store


def located(path: str) -> tuple[Any, str]:
    """Return the client of the bucket and the key."""
    scheme, _, rest = path.partition("://")
    bucket, _, key = rest.partition("/")
    if scheme == "gs":
        return _gcs(bucket, os.environ.get("STORAGE_EMULATOR_HOST")), key.rstrip("/")
    given = s3_settings()
    return _s3(bucket, tuple((n, v) for n, v in given.items() if v)), key.rstrip("/")


def s3_settings() -> dict[str, str | None]:
    """Return where S3 is and who asks, as far as Beam's flags and the environment say."""
    flags = _beam_flags()
    return {
        "endpoint": (flags and flags.s3_endpoint_url) or os.environ.get("AWS_ENDPOINT_URL"),
        "region": flags and flags.s3_region_name,
        "access_key_id": flags and flags.s3_access_key_id,
        "secret_access_key": flags and flags.s3_secret_access_key,
        "session_token": flags and flags.s3_session_token,
    }


def _beam_flags() -> Any:
    """Return Beam's flags for S3, as `files.set_beam_flags` or Beam's worker set them, or None.

    A machine that trains has no Beam, and where Beam is not loaded nothing has set its flags.
    """
    loaded = sys.modules.get("apache_beam.io.filesystems")
    options = loaded.FileSystems._pipeline_options if loaded is not None else None
    if options is None:
        return None
    from apache_beam.options.pipeline_options import S3Options

    return options.view_as(S3Options)


@lru_cache(maxsize=16)
def _s3(bucket: str, given: tuple[tuple[str, str], ...]) -> Any:
    """Return a client with credentials from Beam's flags, boto3, or else environment or machine."""
    config: Any = dict(given)
    provider: Any = None
    if "access_key_id" not in config:
        with contextlib.suppress(ImportError, ValueError):  # no boto3, or it finds no credentials
            from obstore.auth.boto3 import Boto3CredentialProvider

            provider = Boto3CredentialProvider()
    is_plain = config.get("endpoint", "").startswith("http://")
    return obstore.store.S3Store(
        bucket, config=config, client_options={"allow_http": is_plain}, credential_provider=provider
    )


@lru_cache(maxsize=16)
def _gcs(bucket: str, emulator: str | None) -> Any:
    """Return a client with Google's default credentials, or one of an emulator."""
    if emulator is None:
        return obstore.store.GCSStore(bucket)
    url = emulator if "://" in emulator else f"http://{emulator}"
    no_token: Any = {"token": "none", "expires_at": None}
    return obstore.store.GCSStore(
        bucket,
        config={"base_url": url},
        client_options={"allow_http": True},
        credential_provider=lambda: no_token,
    )
