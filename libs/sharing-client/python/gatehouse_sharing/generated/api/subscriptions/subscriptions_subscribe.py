from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.subscription_body import SubscriptionBody
from ...models.subscriptions_subscribe_response_200 import (
    SubscriptionsSubscribeResponse200,
)
from ...types import Response


def _get_kwargs(
    *,
    body: SubscriptionBody,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/open/subscriptions",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> SubscriptionsSubscribeResponse200 | None:
    if response.status_code == 200:
        response_200 = SubscriptionsSubscribeResponse200.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[SubscriptionsSubscribeResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: SubscriptionBody,
) -> Response[SubscriptionsSubscribeResponse200]:
    """Subscribe to a title: its new shares become messages

     Subscribes to a title: when somebody else shares something of it, or asks followers to look again,
    the user gets a message. Subscribing again returns the subscription that is there. `target_key` is
    the type of the title and `media.id` of any of its shares. A user can have 500. Scope: `write`.

    Args:
        body (SubscriptionBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[SubscriptionsSubscribeResponse200]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    body: SubscriptionBody,
) -> SubscriptionsSubscribeResponse200 | None:
    """Subscribe to a title: its new shares become messages

     Subscribes to a title: when somebody else shares something of it, or asks followers to look again,
    the user gets a message. Subscribing again returns the subscription that is there. `target_key` is
    the type of the title and `media.id` of any of its shares. A user can have 500. Scope: `write`.

    Args:
        body (SubscriptionBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        SubscriptionsSubscribeResponse200
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: SubscriptionBody,
) -> Response[SubscriptionsSubscribeResponse200]:
    """Subscribe to a title: its new shares become messages

     Subscribes to a title: when somebody else shares something of it, or asks followers to look again,
    the user gets a message. Subscribing again returns the subscription that is there. `target_key` is
    the type of the title and `media.id` of any of its shares. A user can have 500. Scope: `write`.

    Args:
        body (SubscriptionBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[SubscriptionsSubscribeResponse200]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: SubscriptionBody,
) -> SubscriptionsSubscribeResponse200 | None:
    """Subscribe to a title: its new shares become messages

     Subscribes to a title: when somebody else shares something of it, or asks followers to look again,
    the user gets a message. Subscribing again returns the subscription that is there. `target_key` is
    the type of the title and `media.id` of any of its shares. A user can have 500. Scope: `write`.

    Args:
        body (SubscriptionBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        SubscriptionsSubscribeResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
