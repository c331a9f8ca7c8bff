from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.subscription_body_target_type import SubscriptionBodyTargetType
from ..types import UNSET, Unset

T = TypeVar("T", bound="SubscriptionBody")


@_attrs_define
class SubscriptionBody:
    """
    Attributes:
        target_type (SubscriptionBodyTargetType):
        target_key (str):
        target_id (int | Unset):
    """

    target_type: SubscriptionBodyTargetType
    target_key: str
    target_id: int | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        target_type = self.target_type.value

        target_key = self.target_key

        target_id = self.target_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "target_type": target_type,
                "target_key": target_key,
            }
        )
        if target_id is not UNSET:
            field_dict["target_id"] = target_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        target_type = SubscriptionBodyTargetType(d.pop("target_type"))

        target_key = d.pop("target_key")

        target_id = d.pop("target_id", UNSET)

        subscription_body = cls(
            target_type=target_type,
            target_key=target_key,
            target_id=target_id,
        )

        return subscription_body
