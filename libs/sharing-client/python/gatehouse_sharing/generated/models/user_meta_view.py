from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.user_meta_view_notification_method import UserMetaViewNotificationMethod

T = TypeVar("T", bound="UserMetaView")


@_attrs_define
class UserMetaView:
    """
    Attributes:
        points (int):
        signin_days_total (int):
        share_num (int):
        is_activate (bool):
        notification_method (UserMetaViewNotificationMethod): The service sends no notifications
    """

    points: int
    signin_days_total: int
    share_num: int
    is_activate: bool
    notification_method: UserMetaViewNotificationMethod

    def to_dict(self) -> dict[str, Any]:
        points = self.points

        signin_days_total = self.signin_days_total

        share_num = self.share_num

        is_activate = self.is_activate

        notification_method = self.notification_method.value

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "points": points,
                "signin_days_total": signin_days_total,
                "share_num": share_num,
                "is_activate": is_activate,
                "notification_method": notification_method,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        points = d.pop("points")

        signin_days_total = d.pop("signin_days_total")

        share_num = d.pop("share_num")

        is_activate = d.pop("is_activate")

        notification_method = UserMetaViewNotificationMethod(
            d.pop("notification_method")
        )

        user_meta_view = cls(
            points=points,
            signin_days_total=signin_days_total,
            share_num=share_num,
            is_activate=is_activate,
            notification_method=notification_method,
        )

        return user_meta_view
