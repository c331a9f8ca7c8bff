from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="PingView")


@_attrs_define
class PingView:
    """
    Attributes:
        message (str):
        api_key_id (int | None): Id of the application secret or personal key; null if a public application sent its
            token alone
        name (str):
    """

    message: str
    api_key_id: int | None
    name: str

    def to_dict(self) -> dict[str, Any]:
        message = self.message

        api_key_id: int | None
        api_key_id = self.api_key_id

        name = self.name

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "message": message,
                "api_key_id": api_key_id,
                "name": name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        message = d.pop("message")

        def _parse_api_key_id(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        api_key_id = _parse_api_key_id(d.pop("api_key_id"))

        name = d.pop("name")

        ping_view = cls(
            message=message,
            api_key_id=api_key_id,
            name=name,
        )

        return ping_view
