from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="SharerView")


@_attrs_define
class SharerView:
    """
    Attributes:
        id (int):
        nickname (str):
        avatar_url (None | str):
    """

    id: int
    nickname: str
    avatar_url: None | str

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        nickname = self.nickname

        avatar_url: None | str
        avatar_url = self.avatar_url

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "nickname": nickname,
                "avatar_url": avatar_url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        nickname = d.pop("nickname")

        def _parse_avatar_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        avatar_url = _parse_avatar_url(d.pop("avatar_url"))

        sharer_view = cls(
            id=id,
            nickname=nickname,
            avatar_url=avatar_url,
        )

        return sharer_view
