import json
from dataclasses import dataclass, field
from typing import Any

import httpx


@dataclass
class SharingError(Exception):
    """The service refused a call, or could not be reached."""

    # HTTP status; 0 if there was no answer.
    status: int
    # The stable word for why, as in docs/errors.md or RFC 6749; empty if the answer has none.
    code: str
    message: str
    # Names the call in the error log of the application.
    request_id: str | None = None
    retry_after_seconds: int | None = None
    # The fields that are wrong, each with `field` and `message`.
    details: list[dict[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.code else self.message


class SignInRequiredError(SharingError):
    """There are no tokens that work: the user has to sign in."""


def error_of(response: httpx.Response, kind: type[SharingError] = SharingError) -> SharingError:
    """From an answer of the open API (an envelope) or of the token endpoint (RFC 6749), which has been read."""
    body = _body_of(response)

    def text(name: str) -> str | None:
        value = body.get(name)
        return value if isinstance(value, str) else None

    code = text("code") or text("error") or ""
    details = body.get("details")
    return kind(
        status=response.status_code,
        code=code,
        message=text("message") or text("error_description") or code or f"The answer was {response.status_code}",
        request_id=text("request_id") or response.headers.get("x-request-id"),
        retry_after_seconds=retry_after_of(response),
        details=details if isinstance(details, list) else [],
    )


def retry_after_of(response: httpx.Response) -> int | None:
    """Seconds; the service sends no dates."""
    text = response.headers.get("retry-after", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 6 else None


def _body_of(response: httpx.Response) -> dict[str, Any]:
    """Empty if the answer is no JSON object, as one of a proxy in between."""
    try:
        body = json.loads(response.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
