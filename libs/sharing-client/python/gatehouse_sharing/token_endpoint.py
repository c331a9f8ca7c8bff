import time
from dataclasses import dataclass
from typing import Any

import httpx

from .errors import SharingError, error_of
from .retries import Retries, with_retries
from .tokens import Tokens

# A refresh whose answer was lost may be repeated for twenty seconds: the service then gives the same successor. After
# that the repetition looks like a stolen token, which ends the authorization.
_REFRESH_RETRIES = Retries(attempts=4, first_wait=0.3, longest_wait=3.0)
_NO_RETRIES = Retries(attempts=1)
_DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass(frozen=True)
class TokenEndpoint:
    """The authorization server's endpoints for applications (RFC 6749, 7009, 8628)."""

    http: httpx.Client
    client_id: str
    # Of an application on a server; others prove themselves by PKCE.
    secret: str | None

    def exchange(self, code: str, redirect_uri: str, verifier: str) -> Tokens:
        """Not repeated: a code works once."""
        grant = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        return self._tokens(grant, _NO_RETRIES)

    def refresh(self, refresh_token: str) -> Tokens:
        """Raises SharingError with the code `invalid_grant` if the authorization has ended."""
        return self._tokens({"grant_type": "refresh_token", "refresh_token": refresh_token}, _REFRESH_RETRIES)

    def device_code(self, scopes: list[str]) -> dict[str, Any]:
        return self._post("/oauth2/device_authorization", {"scope": " ".join(scopes)}, _NO_RETRIES)

    def poll(self, device_code: str) -> Tokens | None:
        """None: not yet. Raises SharingError, with `slow_down` if the service wants longer pauses."""
        try:
            return self._tokens({"grant_type": _DEVICE_CODE, "device_code": device_code}, _NO_RETRIES)
        except SharingError as error:
            if error.code == "authorization_pending":
                return None
            raise

    def revoke(self, refresh_token: str) -> None:
        """Ends the authorization."""
        self._post("/oauth2/revoke", {"token": refresh_token}, _REFRESH_RETRIES)

    def _tokens(self, grant: dict[str, str], retries: Retries) -> Tokens:
        asked_at = time.time()
        answer = self._post("/oauth2/token", grant, retries)
        return Tokens(
            access_token=answer["access_token"],
            refresh_token=answer["refresh_token"],
            expires_at=asked_at + answer["expires_in"],
            scopes=tuple(answer["scope"].split()),
            id_token=answer.get("id_token"),
        )

    def _post(self, path: str, fields: dict[str, str], retries: Retries) -> dict[str, Any]:
        auth = None if self.secret is None else httpx.BasicAuth(self.client_id, self.secret)
        data = fields if self.secret is not None else {**fields, "client_id": self.client_id}
        headers = {"accept": "application/json"}
        response = with_retries(lambda: self.http.post(path, data=data, headers=headers, auth=auth), retries)
        if not response.is_success:
            raise error_of(response)
        return response.json() if response.content else {}
