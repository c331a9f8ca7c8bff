from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.messages_unread_response_200 import MessagesUnreadResponse200
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    subscription_only: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["subscription_only"] = subscription_only

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/open/messages/unread-count",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> MessagesUnreadResponse200 | None:
    if response.status_code == 200:
        response_200 = MessagesUnreadResponse200.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[MessagesUnreadResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    subscription_only: str | Unset = UNSET,
) -> Response[MessagesUnreadResponse200]:
    """How many messages are unread

     Returns how many messages are unread. Scope: `write`.

    Args:
        subscription_only (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MessagesUnreadResponse200]
    """

    kwargs = _get_kwargs(
        subscription_only=subscription_only,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    subscription_only: str | Unset = UNSET,
) -> MessagesUnreadResponse200 | None:
    """How many messages are unread

     Returns how many messages are unread. Scope: `write`.

    Args:
        subscription_only (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MessagesUnreadResponse200
    """

    return sync_detailed(
        client=client,
        subscription_only=subscription_only,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    subscription_only: str | Unset = UNSET,
) -> Response[MessagesUnreadResponse200]:
    """How many messages are unread

     Returns how many messages are unread. Scope: `write`.

    Args:
        subscription_only (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MessagesUnreadResponse200]
    """

    kwargs = _get_kwargs(
        subscription_only=subscription_only,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    subscription_only: str | Unset = UNSET,
) -> MessagesUnreadResponse200 | None:
    """How many messages are unread

     Returns how many messages are unread. Scope: `write`.

    Args:
        subscription_only (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MessagesUnreadResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            subscription_only=subscription_only,
        )
    ).parsed
