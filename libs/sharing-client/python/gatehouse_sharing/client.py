import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

import httpx

from .errors import SharingError, SignInRequiredError, error_of
from .generated.client import Client
from .retries import Retries, with_retries
from .session import Session
from .sign_in import PendingSignIn, answer_of, authorization_url, new_sign_in
from .token_endpoint import TokenEndpoint
from .tokens import MemoryTokens, Tokens, TokenStore

# A token that a refresh replaces.
_REFRESH_HELPS = {"INVALID_OPENAPI_USER_TOKEN", "OPENAPI_REFRESH_REQUIRED"}
_SIGN_IN_AGAIN = "OPENAPI_REAUTH_REQUIRED"
_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True)
class DeviceCode:
    """What the user of a device has to know."""

    user_code: str
    address: str
    complete_address: str | None


class SharingClient:
    """The open API for one user of an application.

    base_url   address of the service, such as https://share.example.org
    client_id  needed to sign users in
    secret     of an application on a server, or a personal key; never on a device of a user
    tokens     keeps the tokens of one user; make a client for each user. Default: in memory
    issuer     of the authorization server, if it is not base_url, as behind an internal address
    transport  of httpx, for proxies and tests
    """

    def __init__(
        self,
        base_url: str,
        *,
        client_id: str | None = None,
        secret: str | None = None,
        tokens: TokenStore | None = None,
        issuer: str | None = None,
        retries: Retries | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._issuer = issuer or self._base_url
        self._client_id = client_id
        network = transport or httpx.HTTPTransport()
        plain = httpx.Client(base_url=self._base_url, transport=network, timeout=_TIMEOUT_SECONDS)
        self._endpoint = TokenEndpoint(plain, client_id or "", secret)
        self._session = Session(tokens or MemoryTokens(), self._endpoint)
        calls = _Calls(network, self._session, secret, retries or Retries())
        http = httpx.Client(base_url=self._base_url, transport=calls, timeout=_TIMEOUT_SECONDS)
        # For every function of `gatehouse_sharing.generated.api`. An answer that is no success is raised as SharingError.
        self.api = Client(base_url=self._base_url).set_httpx_client(http)

    def start_sign_in(
        self, redirect_uri: str, scopes: list[str], nonce: str | None = None
    ) -> tuple[str, PendingSignIn]:
        """Where to send the user, and what to keep for `finish_sign_in`, for this user alone."""
        pending = new_sign_in(redirect_uri)
        return authorization_url(self._base_url, self._required_client_id(), scopes, pending, nonce), pending

    def finish_sign_in(self, callback: str, pending: PendingSignIn) -> Tokens:
        """`callback`: the address at which the user came back. Raises SharingError, also if the user refused."""
        code = answer_of(callback, pending, self._issuer)
        tokens = self._endpoint.exchange(code, pending.redirect_uri, pending.verifier)
        self._session.store.save(tokens)
        return tokens

    def sign_in_on_device(
        self, scopes: list[str], show: Callable[[DeviceCode], None], stop: Event | None = None
    ) -> Tokens:
        """Waits until the user has entered the code in a browser (RFC 8628). Raises SharingError, also if refused."""
        self._required_client_id()
        code = self._endpoint.device_code(scopes)
        show(DeviceCode(code["user_code"], code["verification_uri"], code.get("verification_uri_complete")))
        pause = float(code.get("interval", 5))
        until = time.monotonic() + code["expires_in"]
        stopped = stop or Event()
        while time.monotonic() < until and not stopped.wait(pause):
            try:
                tokens = self._endpoint.poll(code["device_code"])
            except SharingError as error:
                if error.code != "slow_down" and error.status != 0:
                    raise
                pause += 5
                continue
            if tokens is not None:
                self._session.store.save(tokens)
                return tokens
        raise SharingError(0, "expired_token", "The code was not entered in time")

    def sign_out(self) -> None:
        """Ends the authorization, here and at the service."""
        tokens = self._session.store.load()
        if tokens is None:
            return
        self._endpoint.revoke(tokens.refresh_token)
        self._session.store.save(None)

    def _required_client_id(self) -> str:
        if self._client_id is None:
            raise TypeError("client_id is needed to sign users in")
        return self._client_id


class _Calls(httpx.BaseTransport):
    """Sends the calls of the generated functions: with key and token, again where that helps, and raises refusals."""

    def __init__(self, network: httpx.BaseTransport, session: Session, secret: str | None, retries: Retries) -> None:
        self._network = network
        self._session = session
        self._secret = secret
        self._retries = retries

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        # With a key of its own a repeated POST is the same call: nothing is paid or shared twice.
        if request.method == "POST" and "idempotency-key" not in request.headers:
            request.headers["idempotency-key"] = str(uuid.uuid4())
        if self._secret is not None:
            request.headers["x-api-key"] = self._secret
        token = self._session.access_token()
        response = self._send(request, token)
        if response.status_code == 401 and token is not None:
            refused = error_of(response)
            if refused.code == _SIGN_IN_AGAIN:
                raise error_of(response, SignInRequiredError)
            if refused.code in _REFRESH_HELPS:
                response = self._send(request, self._session.access_token_after(token))
        if not response.is_success:
            raise error_of(response)
        return response

    def close(self) -> None:
        self._network.close()

    def _send(self, request: httpx.Request, token: str | None) -> httpx.Response:
        if token is not None:
            request.headers["authorization"] = f"Bearer {token}"
        return with_retries(lambda: self._network.handle_request(request), self._retries)
