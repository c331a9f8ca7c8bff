from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.check_resource_body import CheckResourceBody
from ...models.links_check_response_200 import LinksCheckResponse200
from ...types import Response


def _get_kwargs(
    *,
    body: CheckResourceBody,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/open/check/resource",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> LinksCheckResponse200 | None:
    if response.status_code == 200:
        response_200 = LinksCheckResponse200.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[LinksCheckResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: CheckResourceBody,
) -> Response[LinksCheckResponse200]:
    """Recognize the link in a text, and its access code

     Recognizes links of the supported drives, finds the access code in the text, and says whether the
    link is already shared. Nothing is stored. Scope: `query`.

    Args:
        body (CheckResourceBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LinksCheckResponse200]
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
    body: CheckResourceBody,
) -> LinksCheckResponse200 | None:
    """Recognize the link in a text, and its access code

     Recognizes links of the supported drives, finds the access code in the text, and says whether the
    link is already shared. Nothing is stored. Scope: `query`.

    Args:
        body (CheckResourceBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LinksCheckResponse200
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: CheckResourceBody,
) -> Response[LinksCheckResponse200]:
    """Recognize the link in a text, and its access code

     Recognizes links of the supported drives, finds the access code in the text, and says whether the
    link is already shared. Nothing is stored. Scope: `query`.

    Args:
        body (CheckResourceBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LinksCheckResponse200]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: CheckResourceBody,
) -> LinksCheckResponse200 | None:
    """Recognize the link in a text, and its access code

     Recognizes links of the supported drives, finds the access code in the text, and says whether the
    link is already shared. Nothing is stored. Scope: `query`.

    Args:
        body (CheckResourceBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LinksCheckResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
