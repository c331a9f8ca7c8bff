from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="UnreadMessagesView")


@_attrs_define
class UnreadMessagesView:
    """
    Attributes:
        unread_count (int):
    """

    unread_count: int

    def to_dict(self) -> dict[str, Any]:
        unread_count = self.unread_count

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "unread_count": unread_count,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        unread_count = d.pop("unread_count")

        unread_messages_view = cls(
            unread_count=unread_count,
        )

        return unread_messages_view
