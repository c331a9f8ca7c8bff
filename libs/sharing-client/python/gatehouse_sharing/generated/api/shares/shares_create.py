from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.create_share_body import CreateShareBody
from ...models.shares_create_response_200 import SharesCreateResponse200
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: CreateShareBody,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/open/shares",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> SharesCreateResponse200 | None:
    if response.status_code == 200:
        response_200 = SharesCreateResponse200.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[SharesCreateResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: CreateShareBody,
    idempotency_key: str | Unset = UNSET,
) -> Response[SharesCreateResponse200]:
    """Share a link

     Shares a link under a title. Name the title by `tmdb_id` and `media_type`, or by one of its ids
    here. A link can be shared once. Send an `Idempotency-Key` to repeat the request safely. Scope:
    `write`.

    Args:
        idempotency_key (str | Unset):
        body (CreateShareBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[SharesCreateResponse200]
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
    body: CreateShareBody,
    idempotency_key: str | Unset = UNSET,
) -> SharesCreateResponse200 | None:
    """Share a link

     Shares a link under a title. Name the title by `tmdb_id` and `media_type`, or by one of its ids
    here. A link can be shared once. Send an `Idempotency-Key` to repeat the request safely. Scope:
    `write`.

    Args:
        idempotency_key (str | Unset):
        body (CreateShareBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        SharesCreateResponse200
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: CreateShareBody,
    idempotency_key: str | Unset = UNSET,
) -> Response[SharesCreateResponse200]:
    """Share a link

     Shares a link under a title. Name the title by `tmdb_id` and `media_type`, or by one of its ids
    here. A link can be shared once. Send an `Idempotency-Key` to repeat the request safely. Scope:
    `write`.

    Args:
        idempotency_key (str | Unset):
        body (CreateShareBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[SharesCreateResponse200]
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
    body: CreateShareBody,
    idempotency_key: str | Unset = UNSET,
) -> SharesCreateResponse200 | None:
    """Share a link

     Shares a link under a title. Name the title by `tmdb_id` and `media_type`, or by one of its ids
    here. A link can be shared once. Send an `Idempotency-Key` to repeat the request safely. Scope:
    `write`.

    Args:
        idempotency_key (str | Unset):
        body (CreateShareBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        SharesCreateResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
