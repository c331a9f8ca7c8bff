from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Tokens:
    """What an application has of one user."""

    access_token: str
    # Used once: the answer has the next one.
    refresh_token: str
    # Seconds since the epoch.
    expires_at: float
    scopes: tuple[str, ...]
    # With the scope `openid`.
    id_token: str | None = None


class TokenStore(Protocol):
    """Keeps the tokens of one user: in a file, a database, a keychain.

    When `save` returns, they have to be stored: the refresh token before is worth nothing from then on.
    """

    def load(self) -> Tokens | None: ...

    # None: the user has to sign in again.
    def save(self, tokens: Tokens | None) -> None: ...


class MemoryTokens:
    """Forgets them with the process."""

    def __init__(self, tokens: Tokens | None = None) -> None:
        self._tokens = tokens

    def load(self) -> Tokens | None:
        return self._tokens

    def save(self, tokens: Tokens | None) -> None:
        self._tokens = tokens
