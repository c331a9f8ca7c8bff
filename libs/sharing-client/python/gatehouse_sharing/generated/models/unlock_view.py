from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="UnlockView")


@_attrs_define
class UnlockView:
    """
    Attributes:
        url (str):
        access_code (str): Empty if there is none
        full_url (str): The link with its access code
        already_owned (bool): The caller already had access; nothing was paid
    """

    url: str
    access_code: str
    full_url: str
    already_owned: bool

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        access_code = self.access_code

        full_url = self.full_url

        already_owned = self.already_owned

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "url": url,
                "access_code": access_code,
                "full_url": full_url,
                "already_owned": already_owned,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        url = d.pop("url")

        access_code = d.pop("access_code")

        full_url = d.pop("full_url")

        already_owned = d.pop("already_owned")

        unlock_view = cls(
            url=url,
            access_code=access_code,
            full_url=full_url,
            already_owned=already_owned,
        )

        return unlock_view
