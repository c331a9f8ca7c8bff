from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.resources_of_title_response_200 import ResourcesOfTitleResponse200
from ...models.resources_of_title_type import ResourcesOfTitleType
from ...types import UNSET, Response, Unset


def _get_kwargs(
    type_: ResourcesOfTitleType,
    tmdb_id: str,
    *,
    page: int | Unset = UNSET,
    page_size: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["page"] = page

    params["page_size"] = page_size

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/open/resources/{type_}/{tmdb_id}".format(
            type_=quote(str(type_), safe=""),
            tmdb_id=quote(str(tmdb_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ResourcesOfTitleResponse200 | None:
    if response.status_code == 200:
        response_200 = ResourcesOfTitleResponse200.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ResourcesOfTitleResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    type_: ResourcesOfTitleType,
    tmdb_id: str,
    *,
    client: AuthenticatedClient | Client,
    page: int | Unset = UNSET,
    page_size: int | Unset = UNSET,
) -> Response[ResourcesOfTitleResponse200]:
    """Shares of a film or series, newest first; empty for an unknown title. The newest 500 without page
    and page_size

     Lists the shares of a title by its TMDB id, without links and access codes. The list is empty if the
    title has no shares. Scope: `query`.

    Args:
        type_ (ResourcesOfTitleType):
        tmdb_id (str):
        page (int | Unset):
        page_size (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ResourcesOfTitleResponse200]
    """

    kwargs = _get_kwargs(
        type_=type_,
        tmdb_id=tmdb_id,
        page=page,
        page_size=page_size,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    type_: ResourcesOfTitleType,
    tmdb_id: str,
    *,
    client: AuthenticatedClient | Client,
    page: int | Unset = UNSET,
    page_size: int | Unset = UNSET,
) -> ResourcesOfTitleResponse200 | None:
    """Shares of a film or series, newest first; empty for an unknown title. The newest 500 without page
    and page_size

     Lists the shares of a title by its TMDB id, without links and access codes. The list is empty if the
    title has no shares. Scope: `query`.

    Args:
        type_ (ResourcesOfTitleType):
        tmdb_id (str):
        page (int | Unset):
        page_size (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ResourcesOfTitleResponse200
    """

    return sync_detailed(
        type_=type_,
        tmdb_id=tmdb_id,
        client=client,
        page=page,
        page_size=page_size,
    ).parsed


async def asyncio_detailed(
    type_: ResourcesOfTitleType,
    tmdb_id: str,
    *,
    client: AuthenticatedClient | Client,
    page: int | Unset = UNSET,
    page_size: int | Unset = UNSET,
) -> Response[ResourcesOfTitleResponse200]:
    """Shares of a film or series, newest first; empty for an unknown title. The newest 500 without page
    and page_size

     Lists the shares of a title by its TMDB id, without links and access codes. The list is empty if the
    title has no shares. Scope: `query`.

    Args:
        type_ (ResourcesOfTitleType):
        tmdb_id (str):
        page (int | Unset):
        page_size (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ResourcesOfTitleResponse200]
    """

    kwargs = _get_kwargs(
        type_=type_,
        tmdb_id=tmdb_id,
        page=page,
        page_size=page_size,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    type_: ResourcesOfTitleType,
    tmdb_id: str,
    *,
    client: AuthenticatedClient | Client,
    page: int | Unset = UNSET,
    page_size: int | Unset = UNSET,
) -> ResourcesOfTitleResponse200 | None:
    """Shares of a film or series, newest first; empty for an unknown title. The newest 500 without page
    and page_size

     Lists the shares of a title by its TMDB id, without links and access codes. The list is empty if the
    title has no shares. Scope: `query`.

    Args:
        type_ (ResourcesOfTitleType):
        tmdb_id (str):
        page (int | Unset):
        page_size (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ResourcesOfTitleResponse200
    """

    return (
        await asyncio_detailed(
            type_=type_,
            tmdb_id=tmdb_id,
            client=client,
            page=page,
            page_size=page_size,
        )
    ).parsed
