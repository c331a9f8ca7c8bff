from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="EndpointStatsView")


@_attrs_define
class EndpointStatsView:
    """
    Attributes:
        endpoint (str): Route template
        method (str):
        total_calls (int):
        success_calls (int):
        failed_calls (int):
        avg_latency (float): Milliseconds
    """

    endpoint: str
    method: str
    total_calls: int
    success_calls: int
    failed_calls: int
    avg_latency: float

    def to_dict(self) -> dict[str, Any]:
        endpoint = self.endpoint

        method = self.method

        total_calls = self.total_calls

        success_calls = self.success_calls

        failed_calls = self.failed_calls

        avg_latency = self.avg_latency

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "endpoint": endpoint,
                "method": method,
                "total_calls": total_calls,
                "success_calls": success_calls,
                "failed_calls": failed_calls,
                "avg_latency": avg_latency,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        endpoint = d.pop("endpoint")

        method = d.pop("method")

        total_calls = d.pop("total_calls")

        success_calls = d.pop("success_calls")

        failed_calls = d.pop("failed_calls")

        avg_latency = d.pop("avg_latency")

        endpoint_stats_view = cls(
            endpoint=endpoint,
            method=method,
            total_calls=total_calls,
            success_calls=success_calls,
            failed_calls=failed_calls,
            avg_latency=avg_latency,
        )

        return endpoint_stats_view
