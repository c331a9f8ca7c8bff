from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.check_in_body import CheckInBody
from ...models.check_in_check_in_response_200 import CheckInCheckInResponse200
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: CheckInBody | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/open/checkin",
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CheckInCheckInResponse200 | None:
    if response.status_code == 200:
        response_200 = CheckInCheckInResponse200.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CheckInCheckInResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: CheckInBody | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[CheckInCheckInResponse200]:
    """Check in for today

     Grants the daily points, once a day. With `is_gambler` the amount is random instead of fixed. Scope:
    `vip`.

    Args:
        idempotency_key (str | Unset):
        body (CheckInBody | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CheckInCheckInResponse200]
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
    body: CheckInBody | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> CheckInCheckInResponse200 | None:
    """Check in for today

     Grants the daily points, once a day. With `is_gambler` the amount is random instead of fixed. Scope:
    `vip`.

    Args:
        idempotency_key (str | Unset):
        body (CheckInBody | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CheckInCheckInResponse200
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: CheckInBody | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[CheckInCheckInResponse200]:
    """Check in for today

     Grants the daily points, once a day. With `is_gambler` the amount is random instead of fixed. Scope:
    `vip`.

    Args:
        idempotency_key (str | Unset):
        body (CheckInBody | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CheckInCheckInResponse200]
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
    body: CheckInBody | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> CheckInCheckInResponse200 | None:
    """Check in for today

     Grants the daily points, once a day. With `is_gambler` the amount is random instead of fixed. Scope:
    `vip`.

    Args:
        idempotency_key (str | Unset):
        body (CheckInBody | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CheckInCheckInResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
