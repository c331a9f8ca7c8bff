from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="WeeklyFreeView")


@_attrs_define
class WeeklyFreeView:
    """
    Attributes:
        is_forever_vip (bool):
        limit (int): Free unlocks per week; 0 if there is no limit
        used (int): Used this week; official shares do not count
        remaining (int): Free unlocks left this week, bonus included; -1 if there is no limit
        unlimited (bool):
        bonus_quota (int): Unused free unlocks of earlier weeks; updated on Mondays
        bonus_quota_max (int):
    """

    is_forever_vip: bool
    limit: int
    used: int
    remaining: int
    unlimited: bool
    bonus_quota: int
    bonus_quota_max: int

    def to_dict(self) -> dict[str, Any]:
        is_forever_vip = self.is_forever_vip

        limit = self.limit

        used = self.used

        remaining = self.remaining

        unlimited = self.unlimited

        bonus_quota = self.bonus_quota

        bonus_quota_max = self.bonus_quota_max

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "is_forever_vip": is_forever_vip,
                "limit": limit,
                "used": used,
                "remaining": remaining,
                "unlimited": unlimited,
                "bonus_quota": bonus_quota,
                "bonus_quota_max": bonus_quota_max,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        is_forever_vip = d.pop("is_forever_vip")

        limit = d.pop("limit")

        used = d.pop("used")

        remaining = d.pop("remaining")

        unlimited = d.pop("unlimited")

        bonus_quota = d.pop("bonus_quota")

        bonus_quota_max = d.pop("bonus_quota_max")

        weekly_free_view = cls(
            is_forever_vip=is_forever_vip,
            limit=limit,
            used=used,
            remaining=remaining,
            unlimited=unlimited,
            bonus_quota=bonus_quota,
            bonus_quota_max=bonus_quota_max,
        )

        return weekly_free_view
