import base64
import hashlib
import secrets
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode, urlsplit

from .errors import SharingError


@dataclass(frozen=True)
class PendingSignIn:
    """What belongs to one question to one user; never in an address, and never shown to another browser."""

    redirect_uri: str
    state: str
    # RFC 7636.
    verifier: str


def new_sign_in(redirect_uri: str) -> PendingSignIn:
    return PendingSignIn(redirect_uri, secrets.token_urlsafe(32), secrets.token_urlsafe(32))


def authorization_url(
    base_url: str, client_id: str, scopes: list[str], pending: PendingSignIn, nonce: str | None
) -> str:
    digest = hashlib.sha256(pending.verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": pending.redirect_uri,
        "scope": " ".join(scopes),
        "state": pending.state,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    if nonce is not None:
        query["nonce"] = nonce
    return f"{base_url}/oauth2/authorize?{urlencode(query)}"


def answer_of(callback: str, pending: PendingSignIn, issuer: str) -> str:
    """The code. Raises SharingError if the answer is to another question, or a refusal."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(callback).query).items()}
    if not secrets.compare_digest(query.get("state", "").encode(), pending.state.encode()):
        raise SharingError(0, "WRONG_STATE", "This is the answer to another sign-in")
    # RFC 9207: an answer of another server must not lead its code here.
    if query.get("iss", issuer) != issuer:
        raise SharingError(0, "WRONG_ISSUER", "This is the answer of another server")
    if "error" in query:
        raise SharingError(0, query["error"], query.get("error_description", query["error"]))
    if "code" not in query:
        raise SharingError(0, "NO_CODE", "The address has no code")
    return query["code"]
