import threading
import time

from .errors import SharingError, SignInRequiredError
from .token_endpoint import TokenEndpoint
from .tokens import Tokens, TokenStore

# A token that ends while a call is under way would be refused.
_EARLY_SECONDS = 30.0


class Session:
    """The tokens of one user: refreshed before they end, once, however many threads need them."""

    def __init__(self, store: TokenStore, endpoint: TokenEndpoint) -> None:
        self.store = store
        self._endpoint = endpoint
        self._lock = threading.Lock()

    def access_token(self) -> str | None:
        """None: nobody has signed in. Raises SignInRequiredError if the authorization has ended."""
        tokens = self.store.load()
        if tokens is None:
            return None
        if tokens.expires_at - _EARLY_SECONDS > time.time():
            return tokens.access_token
        return self.access_token_after(tokens.access_token)

    def access_token_after(self, former: str) -> str:
        """After `former` ended or was refused. Another thread, or another process, may have replaced it already."""
        with self._lock:
            tokens = self.store.load()
            if tokens is None:
                raise SignInRequiredError(401, "SIGN_IN_REQUIRED", "The user has to sign in")
            if tokens.access_token != former:
                return tokens.access_token
            return self._renewed(tokens).access_token

    def _renewed(self, before: Tokens) -> Tokens:
        try:
            tokens = self._endpoint.refresh(before.refresh_token)
        except SharingError as error:
            if error.code != "invalid_grant":
                raise
            now = self.store.load()
            if now is not None and now.refresh_token != before.refresh_token:
                return now
            self.store.save(None)
            raise SignInRequiredError(error.status, error.code, error.message, error.request_id) from error
        # Stored before it is used: the former one is worth nothing now.
        self.store.save(tokens)
        return tokens
