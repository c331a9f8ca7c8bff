from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="UsageSummaryView")


@_attrs_define
class UsageSummaryView:
    """
    Attributes:
        total_calls (int):
        success_calls (int): Calls answered with a status below 400
        failed_calls (int):
        avg_latency (float): Milliseconds
        p95_latency (float): Milliseconds that 95 of 100 calls did not exceed
    """

    total_calls: int
    success_calls: int
    failed_calls: int
    avg_latency: float
    p95_latency: float

    def to_dict(self) -> dict[str, Any]:
        total_calls = self.total_calls

        success_calls = self.success_calls

        failed_calls = self.failed_calls

        avg_latency = self.avg_latency

        p95_latency = self.p95_latency

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "total_calls": total_calls,
                "success_calls": success_calls,
                "failed_calls": failed_calls,
                "avg_latency": avg_latency,
                "p95_latency": p95_latency,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        total_calls = d.pop("total_calls")

        success_calls = d.pop("success_calls")

        failed_calls = d.pop("failed_calls")

        avg_latency = d.pop("avg_latency")

        p95_latency = d.pop("p95_latency")

        usage_summary_view = cls(
            total_calls=total_calls,
            success_calls=success_calls,
            failed_calls=failed_calls,
            avg_latency=avg_latency,
            p95_latency=p95_latency,
        )

        return usage_summary_view
