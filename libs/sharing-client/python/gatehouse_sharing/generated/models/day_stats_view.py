from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="DayStatsView")


@_attrs_define
class DayStatsView:
    """
    Attributes:
        total_calls (int):
        success_calls (int): Calls answered with a status below 400
        failed_calls (int):
        avg_latency (float): Milliseconds
        p95_latency (float): Milliseconds that 95 of 100 calls did not exceed
        date (datetime.date):
    """

    total_calls: int
    success_calls: int
    failed_calls: int
    avg_latency: float
    p95_latency: float
    date: datetime.date

    def to_dict(self) -> dict[str, Any]:
        total_calls = self.total_calls

        success_calls = self.success_calls

        failed_calls = self.failed_calls

        avg_latency = self.avg_latency

        p95_latency = self.p95_latency

        date = self.date.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "total_calls": total_calls,
                "success_calls": success_calls,
                "failed_calls": failed_calls,
                "avg_latency": avg_latency,
                "p95_latency": p95_latency,
                "date": date,
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

        date = datetime.date.fromisoformat(d.pop("date"))

        day_stats_view = cls(
            total_calls=total_calls,
            success_calls=success_calls,
            failed_calls=failed_calls,
            avg_latency=avg_latency,
            p95_latency=p95_latency,
            date=date,
        )

        return day_stats_view
