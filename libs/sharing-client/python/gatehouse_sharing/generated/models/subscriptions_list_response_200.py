from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.subscription_view import SubscriptionView
    from ..models.subscriptions_list_response_200_meta import (
        SubscriptionsListResponse200Meta,
    )


T = TypeVar("T", bound="SubscriptionsListResponse200")


@_attrs_define
class SubscriptionsListResponse200:
    """
    Attributes:
        success (bool):
        code (str):
        message (str):
        data (list[SubscriptionView]):
        meta (SubscriptionsListResponse200Meta):
    """

    success: bool
    code: str
    message: str
    data: list[SubscriptionView]
    meta: SubscriptionsListResponse200Meta
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        success = self.success

        code = self.code

        message = self.message

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        meta = self.meta.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "success": success,
                "code": code,
                "message": message,
                "data": data,
                "meta": meta,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.subscription_view import SubscriptionView
        from ..models.subscriptions_list_response_200_meta import (
            SubscriptionsListResponse200Meta,
        )

        d = dict(src_dict)
        success = d.pop("success")

        code = d.pop("code")

        message = d.pop("message")

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = SubscriptionView.from_dict(data_item_data)

            data.append(data_item)

        meta = SubscriptionsListResponse200Meta.from_dict(d.pop("meta"))

        subscriptions_list_response_200 = cls(
            success=success,
            code=code,
            message=message,
            data=data,
            meta=meta,
        )

        subscriptions_list_response_200.additional_properties = d
        return subscriptions_list_response_200

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
