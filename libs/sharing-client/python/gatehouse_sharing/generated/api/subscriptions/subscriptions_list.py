from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.subscriptions_list_response_200 import SubscriptionsListResponse200
from ...models.subscriptions_list_status import SubscriptionsListStatus
from ...models.subscriptions_list_target_type import SubscriptionsListTargetType
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    page: int | Unset = 1,
    page_size: int | Unset = 20,
    target_type: SubscriptionsListTargetType | Unset = UNSET,
    status: SubscriptionsListStatus | Unset = UNSET,
    q: str | Unset = "",
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["page"] = page

    params["page_size"] = page_size

    json_target_type: str | Unset = UNSET
    if not isinstance(target_type, Unset):
        json_target_type = target_type.value

    params["target_type"] = json_target_type

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

    params["q"] = q

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/open/subscriptions",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> SubscriptionsListResponse200 | None:
    if response.status_code == 200:
        response_200 = SubscriptionsListResponse200.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[SubscriptionsListResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    page: int | Unset = 1,
    page_size: int | Unset = 20,
    target_type: SubscriptionsListTargetType | Unset = UNSET,
    status: SubscriptionsListStatus | Unset = UNSET,
    q: str | Unset = "",
) -> Response[SubscriptionsListResponse200]:
    """Titles that the user subscribed to, newest first

     Lists the subscriptions of the user. `q` finds one by its `target_key`, by TMDB id or by a part of
    the name. Scope: `write`.

    Args:
        page (int | Unset):  Default: 1.
        page_size (int | Unset):  Default: 20.
        target_type (SubscriptionsListTargetType | Unset):
        status (SubscriptionsListStatus | Unset):
        q (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[SubscriptionsListResponse200]
    """

    kwargs = _get_kwargs(
        page=page,
        page_size=page_size,
        target_type=target_type,
        status=status,
        q=q,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    page: int | Unset = 1,
    page_size: int | Unset = 20,
    target_type: SubscriptionsListTargetType | Unset = UNSET,
    status: SubscriptionsListStatus | Unset = UNSET,
    q: str | Unset = "",
) -> SubscriptionsListResponse200 | None:
    """Titles that the user subscribed to, newest first

     Lists the subscriptions of the user. `q` finds one by its `target_key`, by TMDB id or by a part of
    the name. Scope: `write`.

    Args:
        page (int | Unset):  Default: 1.
        page_size (int | Unset):  Default: 20.
        target_type (SubscriptionsListTargetType | Unset):
        status (SubscriptionsListStatus | Unset):
        q (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        SubscriptionsListResponse200
    """

    return sync_detailed(
        client=client,
        page=page,
        page_size=page_size,
        target_type=target_type,
        status=status,
        q=q,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    page: int | Unset = 1,
    page_size: int | Unset = 20,
    target_type: SubscriptionsListTargetType | Unset = UNSET,
    status: SubscriptionsListStatus | Unset = UNSET,
    q: str | Unset = "",
) -> Response[SubscriptionsListResponse200]:
    """Titles that the user subscribed to, newest first

     Lists the subscriptions of the user. `q` finds one by its `target_key`, by TMDB id or by a part of
    the name. Scope: `write`.

    Args:
        page (int | Unset):  Default: 1.
        page_size (int | Unset):  Default: 20.
        target_type (SubscriptionsListTargetType | Unset):
        status (SubscriptionsListStatus | Unset):
        q (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[SubscriptionsListResponse200]
    """

    kwargs = _get_kwargs(
        page=page,
        page_size=page_size,
        target_type=target_type,
        status=status,
        q=q,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    page: int | Unset = 1,
    page_size: int | Unset = 20,
    target_type: SubscriptionsListTargetType | Unset = UNSET,
    status: SubscriptionsListStatus | Unset = UNSET,
    q: str | Unset = "",
) -> SubscriptionsListResponse200 | None:
    """Titles that the user subscribed to, newest first

     Lists the subscriptions of the user. `q` finds one by its `target_key`, by TMDB id or by a part of
    the name. Scope: `write`.

    Args:
        page (int | Unset):  Default: 1.
        page_size (int | Unset):  Default: 20.
        target_type (SubscriptionsListTargetType | Unset):
        status (SubscriptionsListStatus | Unset):
        q (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        SubscriptionsListResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            page=page,
            page_size=page_size,
            target_type=target_type,
            status=status,
            q=q,
        )
    ).parsed
