from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.day_stats_view import DayStatsView
    from ..models.endpoint_stats_view import EndpointStatsView
    from ..models.usage_summary_view import UsageSummaryView


T = TypeVar("T", bound="UsageView")


@_attrs_define
class UsageView:
    """
    Attributes:
        daily_stats (list[DayStatsView]): Days with calls, oldest first
        endpoint_stats (list[EndpointStatsView]): Most called first
        summary (UsageSummaryView):
    """

    daily_stats: list[DayStatsView]
    endpoint_stats: list[EndpointStatsView]
    summary: UsageSummaryView

    def to_dict(self) -> dict[str, Any]:
        daily_stats = []
        for daily_stats_item_data in self.daily_stats:
            daily_stats_item = daily_stats_item_data.to_dict()
            daily_stats.append(daily_stats_item)

        endpoint_stats = []
        for endpoint_stats_item_data in self.endpoint_stats:
            endpoint_stats_item = endpoint_stats_item_data.to_dict()
            endpoint_stats.append(endpoint_stats_item)

        summary = self.summary.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "daily_stats": daily_stats,
                "endpoint_stats": endpoint_stats,
                "summary": summary,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.day_stats_view import DayStatsView
        from ..models.endpoint_stats_view import EndpointStatsView
        from ..models.usage_summary_view import UsageSummaryView

        d = dict(src_dict)
        daily_stats = []
        _daily_stats = d.pop("daily_stats")
        for daily_stats_item_data in _daily_stats:
            daily_stats_item = DayStatsView.from_dict(daily_stats_item_data)

            daily_stats.append(daily_stats_item)

        endpoint_stats = []
        _endpoint_stats = d.pop("endpoint_stats")
        for endpoint_stats_item_data in _endpoint_stats:
            endpoint_stats_item = EndpointStatsView.from_dict(endpoint_stats_item_data)

            endpoint_stats.append(endpoint_stats_item)

        summary = UsageSummaryView.from_dict(d.pop("summary"))

        usage_view = cls(
            daily_stats=daily_stats,
            endpoint_stats=endpoint_stats,
            summary=summary,
        )

        return usage_view
