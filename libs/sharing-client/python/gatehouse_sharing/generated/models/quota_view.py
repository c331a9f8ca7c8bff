from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="QuotaView")


@_attrs_define
class QuotaView:
    """
    Attributes:
        daily_reset (int): Next midnight in the service’s time zone, in Unix seconds
        endpoint_limit (int | None): Calls of this operation per day; null: no limit
        endpoint_remaining (int | None):
    """

    daily_reset: int
    endpoint_limit: int | None
    endpoint_remaining: int | None

    def to_dict(self) -> dict[str, Any]:
        daily_reset = self.daily_reset

        endpoint_limit: int | None
        endpoint_limit = self.endpoint_limit

        endpoint_remaining: int | None
        endpoint_remaining = self.endpoint_remaining

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "daily_reset": daily_reset,
                "endpoint_limit": endpoint_limit,
                "endpoint_remaining": endpoint_remaining,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        daily_reset = d.pop("daily_reset")

        def _parse_endpoint_limit(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        endpoint_limit = _parse_endpoint_limit(d.pop("endpoint_limit"))

        def _parse_endpoint_remaining(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        endpoint_remaining = _parse_endpoint_remaining(d.pop("endpoint_remaining"))

        quota_view = cls(
            daily_reset=daily_reset,
            endpoint_limit=endpoint_limit,
            endpoint_remaining=endpoint_remaining,
        )

        return quota_view
