from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="EntitlementsView")


@_attrs_define
class EntitlementsView:
    """
    Attributes:
        is_forever_vip (bool): Premium for more than 20 years; only such users have free unlocks
        weekly_free_quota (int): Free unlocks per week; 0 if there is no limit or none
        weekly_free_quota_remaining (int): Free unlocks left this week, bonus included; -1 if there is no limit
        weekly_free_quota_unlimited (bool):
        bonus_quota (int): Unused free unlocks of earlier weeks
    """

    is_forever_vip: bool
    weekly_free_quota: int
    weekly_free_quota_remaining: int
    weekly_free_quota_unlimited: bool
    bonus_quota: int

    def to_dict(self) -> dict[str, Any]:
        is_forever_vip = self.is_forever_vip

        weekly_free_quota = self.weekly_free_quota

        weekly_free_quota_remaining = self.weekly_free_quota_remaining

        weekly_free_quota_unlimited = self.weekly_free_quota_unlimited

        bonus_quota = self.bonus_quota

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "is_forever_vip": is_forever_vip,
                "weekly_free_quota": weekly_free_quota,
                "weekly_free_quota_remaining": weekly_free_quota_remaining,
                "weekly_free_quota_unlimited": weekly_free_quota_unlimited,
                "bonus_quota": bonus_quota,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        is_forever_vip = d.pop("is_forever_vip")

        weekly_free_quota = d.pop("weekly_free_quota")

        weekly_free_quota_remaining = d.pop("weekly_free_quota_remaining")

        weekly_free_quota_unlimited = d.pop("weekly_free_quota_unlimited")

        bonus_quota = d.pop("bonus_quota")

        entitlements_view = cls(
            is_forever_vip=is_forever_vip,
            weekly_free_quota=weekly_free_quota,
            weekly_free_quota_remaining=weekly_free_quota_remaining,
            weekly_free_quota_unlimited=weekly_free_quota_unlimited,
            bonus_quota=bonus_quota,
        )

        return entitlements_view
