"""Client of the open API of Gatehouse's sharing site: sign-in, refresh, retries, paging."""

from .client import DeviceCode, SharingClient
from .errors import SharingError, SignInRequiredError
from .every_item import every_item
from .retries import Retries
from .sign_in import PendingSignIn
from .tokens import MemoryTokens, Tokens, TokenStore

__all__ = [
    "DeviceCode",
    "MemoryTokens",
    "PendingSignIn",
    "Retries",
    "SharingClient",
    "SharingError",
    "SignInRequiredError",
    "TokenStore",
    "Tokens",
    "every_item",
]
