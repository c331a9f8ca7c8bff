from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.unread_messages_view import UnreadMessagesView


T = TypeVar("T", bound="MessagesUnreadResponse200")


@_attrs_define
class MessagesUnreadResponse200:
    """
    Attributes:
        success (bool):
        code (str):
        message (str):
        data (UnreadMessagesView):
    """

    success: bool
    code: str
    message: str
    data: UnreadMessagesView
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        success = self.success

        code = self.code

        message = self.message

        data = self.data.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "success": success,
                "code": code,
                "message": message,
                "data": data,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.unread_messages_view import UnreadMessagesView

        d = dict(src_dict)
        success = d.pop("success")

        code = d.pop("code")

        message = d.pop("message")

        data = UnreadMessagesView.from_dict(d.pop("data"))

        messages_unread_response_200 = cls(
            success=success,
            code=code,
            message=message,
            data=data,
        )

        messages_unread_response_200.additional_properties = d
        return messages_unread_response_200

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
