from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.unlock_body import UnlockBody
from ...models.unlocks_unlock_response_200 import UnlocksUnlockResponse200
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: UnlockBody,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/open/resources/unlock",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> UnlocksUnlockResponse200 | None:
    if response.status_code == 200:
        response_200 = UnlocksUnlockResponse200.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[UnlocksUnlockResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: UnlockBody,
    idempotency_key: str | Unset = UNSET,
) -> Response[UnlocksUnlockResponse200]:
    """Unlock a share, or several: get link and access code. A price is paid once

     Returns the link and the access code. A price is paid only once: unlocking the share again is free.
    The points move from the user to the owner in one transaction. With `slugs` in the place of `slug`,
    up to 20 shares are unlocked in one transaction, in their order, and each has its own outcome in
    `items`; the answer is the refusal of a limit only if nothing was unlocked. Scope: `unlock`.

    Args:
        idempotency_key (str | Unset):
        body (UnlockBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[UnlocksUnlockResponse200]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    body: UnlockBody,
    idempotency_key: str | Unset = UNSET,
) -> UnlocksUnlockResponse200 | None:
    """Unlock a share, or several: get link and access code. A price is paid once

     Returns the link and the access code. A price is paid only once: unlocking the share again is free.
    The points move from the user to the owner in one transaction. With `slugs` in the place of `slug`,
    up to 20 shares are unlocked in one transaction, in their order, and each has its own outcome in
    `items`; the answer is the refusal of a limit only if nothing was unlocked. Scope: `unlock`.

    Args:
        idempotency_key (str | Unset):
        body (UnlockBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        UnlocksUnlockResponse200
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: UnlockBody,
    idempotency_key: str | Unset = UNSET,
) -> Response[UnlocksUnlockResponse200]:
    """Unlock a share, or several: get link and access code. A price is paid once

     Returns the link and the access code. A price is paid only once: unlocking the share again is free.
    The points move from the user to the owner in one transaction. With `slugs` in the place of `slug`,
    up to 20 shares are unlocked in one transaction, in their order, and each has its own outcome in
    `items`; the answer is the refusal of a limit only if nothing was unlocked. Scope: `unlock`.

    Args:
        idempotency_key (str | Unset):
        body (UnlockBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[UnlocksUnlockResponse200]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: UnlockBody,
    idempotency_key: str | Unset = UNSET,
) -> UnlocksUnlockResponse200 | None:
    """Unlock a share, or several: get link and access code. A price is paid once

     Returns the link and the access code. A price is paid only once: unlocking the share again is free.
    The points move from the user to the owner in one transaction. With `slugs` in the place of `slug`,
    up to 20 shares are unlocked in one transaction, in their order, and each has its own outcome in
    `items`; the answer is the refusal of a limit only if nothing was unlocked. Scope: `unlock`.

    Args:
        idempotency_key (str | Unset):
        body (UnlockBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        UnlocksUnlockResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
