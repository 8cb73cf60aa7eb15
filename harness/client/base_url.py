"""The server's address, as it may stand in a published report."""

from __future__ import annotations

from urllib.parse import urlsplit

from contract.text import trim
from harness.client.errors import BaseUrlError


def parse_base_url(text: str) -> str:
    """Trim a base URL and refuse what must not land in a report; returns it without a final slash.

    Raises BaseUrlError. Pulse API, section 1.
    """
    url = trim(text).rstrip("/")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as exc:
        raise BaseUrlError("not an address", where="--url", hint="like http://127.0.0.1:7655") from exc
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BaseUrlError(
            "an http or https address with a host is needed", where="--url", hint="like http://127.0.0.1:7655"
        )
    if "@" in parts.netloc:
        raise BaseUrlError(
            "the address holds credentials", where="--url", hint="use --user and PULSE_QUALIFY_PASSWORD"
        )
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise BaseUrlError("the address holds a query or fragment", where="--url", hint="remove it")
    return url
