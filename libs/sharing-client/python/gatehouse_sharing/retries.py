import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import httpx

from .errors import SharingError, error_of, retry_after_of


@dataclass(frozen=True)
class Retries:
    # Attempts of one call, the first included. 1: no retries.
    attempts: int = 4
    # Before the second attempt, doubled for each further one, with a random part.
    first_wait: float = 0.5
    # The longest time that a call waits because the service asks for it; longer: the error is raised.
    longest_wait: float = 30.0


# Too many calls, or a server or proxy is away.
_WORTH_REPEATING = {429, 502, 503, 504}
_KEY_IN_USE = "IDEMPOTENCY_KEY_IN_USE"


def with_retries(send: Callable[[], httpx.Response], retries: Retries) -> httpx.Response:
    """Repeats what may be repeated; the caller sends only such calls. Answers have been read.

    Raises SharingError of status 0 if there is no answer.
    """
    attempt = 1
    while True:
        is_last = attempt >= retries.attempts
        backoff = retries.first_wait * 2 ** (attempt - 1) * (0.5 + random.random())
        try:
            response = send()
            response.read()
        except httpx.TransportError as cause:
            if is_last:
                raise SharingError(0, "NO_ANSWER", "The service could not be reached") from cause
            wait = backoff
        else:
            if is_last or not _is_worth_repeating(response):
                return response
            asked = retry_after_of(response)
            wait = backoff if asked is None else asked
            if wait > retries.longest_wait:
                return response
            response.close()
        time.sleep(wait)
        attempt += 1


def _is_worth_repeating(response: httpx.Response) -> bool:
    if response.status_code == 409:
        return error_of(response).code == _KEY_IN_USE
    return response.status_code in _WORTH_REPEATING
