from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="CheckInView")


@_attrs_define
class CheckInView:
    """
    Attributes:
        checked_in (bool): False if the user has already checked in today
        message (str):
        points (int): Points won or, below 0, lost; 0 if the user has already checked in today
        balance (int):
        streak (int): Consecutive days with a check-in
    """

    checked_in: bool
    message: str
    points: int
    balance: int
    streak: int

    def to_dict(self) -> dict[str, Any]:
        checked_in = self.checked_in

        message = self.message

        points = self.points

        balance = self.balance

        streak = self.streak

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "checked_in": checked_in,
                "message": message,
                "points": points,
                "balance": balance,
                "streak": streak,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        checked_in = d.pop("checked_in")

        message = d.pop("message")

        points = d.pop("points")

        balance = d.pop("balance")

        streak = d.pop("streak")

        check_in_view = cls(
            checked_in=checked_in,
            message=message,
            points=points,
            balance=balance,
            streak=streak,
        )

        return check_in_view
