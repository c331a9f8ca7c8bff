from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.messages_list_response_200 import MessagesListResponse200
from ...models.messages_list_status import MessagesListStatus
from ...models.messages_list_type import MessagesListType
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    page: int | Unset = 1,
    page_size: int | Unset = 20,
    type_: MessagesListType | Unset = UNSET,
    status: MessagesListStatus | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["page"] = page

    params["page_size"] = page_size

    json_type_: str | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = type_.value

    params["type"] = json_type_

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/open/messages",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> MessagesListResponse200 | None:
    if response.status_code == 200:
        response_200 = MessagesListResponse200.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[MessagesListResponse200]:
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
    type_: MessagesListType | Unset = UNSET,
    status: MessagesListStatus | Unset = UNSET,
) -> Response[MessagesListResponse200]:
    """Messages about shares of subscribed titles, newest first

     Lists the messages of the user. Those about withdrawn shares are left out, and all are removed after
    90 days. Scope: `write`.

    Args:
        page (int | Unset):  Default: 1.
        page_size (int | Unset):  Default: 20.
        type_ (MessagesListType | Unset):
        status (MessagesListStatus | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MessagesListResponse200]
    """

    kwargs = _get_kwargs(
        page=page,
        page_size=page_size,
        type_=type_,
        status=status,
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
    type_: MessagesListType | Unset = UNSET,
    status: MessagesListStatus | Unset = UNSET,
) -> MessagesListResponse200 | None:
    """Messages about shares of subscribed titles, newest first

     Lists the messages of the user. Those about withdrawn shares are left out, and all are removed after
    90 days. Scope: `write`.

    Args:
        page (int | Unset):  Default: 1.
        page_size (int | Unset):  Default: 20.
        type_ (MessagesListType | Unset):
        status (MessagesListStatus | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MessagesListResponse200
    """

    return sync_detailed(
        client=client,
        page=page,
        page_size=page_size,
        type_=type_,
        status=status,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    page: int | Unset = 1,
    page_size: int | Unset = 20,
    type_: MessagesListType | Unset = UNSET,
    status: MessagesListStatus | Unset = UNSET,
) -> Response[MessagesListResponse200]:
    """Messages about shares of subscribed titles, newest first

     Lists the messages of the user. Those about withdrawn shares are left out, and all are removed after
    90 days. Scope: `write`.

    Args:
        page (int | Unset):  Default: 1.
        page_size (int | Unset):  Default: 20.
        type_ (MessagesListType | Unset):
        status (MessagesListStatus | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MessagesListResponse200]
    """

    kwargs = _get_kwargs(
        page=page,
        page_size=page_size,
        type_=type_,
        status=status,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    page: int | Unset = 1,
    page_size: int | Unset = 20,
    type_: MessagesListType | Unset = UNSET,
    status: MessagesListStatus | Unset = UNSET,
) -> MessagesListResponse200 | None:
    """Messages about shares of subscribed titles, newest first

     Lists the messages of the user. Those about withdrawn shares are left out, and all are removed after
    90 days. Scope: `write`.

    Args:
        page (int | Unset):  Default: 1.
        page_size (int | Unset):  Default: 20.
        type_ (MessagesListType | Unset):
        status (MessagesListStatus | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MessagesListResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            page=page,
            page_size=page_size,
            type_=type_,
            status=status,
        )
    ).parsed
