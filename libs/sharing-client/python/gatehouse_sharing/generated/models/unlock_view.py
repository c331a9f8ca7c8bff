from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.unlock_item_view import UnlockItemView


T = TypeVar("T", bound="UnlockView")


@_attrs_define
class UnlockView:
    """
    Attributes:
        url (str): Empty for `slugs`, like the next two
        access_code (str): Empty if there is none
        full_url (str): The link with its access code
        already_owned (bool): The caller already had access; nothing was paid
        items (list[UnlockItemView] | Unset): Only for `slugs`: each share once, in their order
    """

    url: str
    access_code: str
    full_url: str
    already_owned: bool
    items: list[UnlockItemView] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        access_code = self.access_code

        full_url = self.full_url

        already_owned = self.already_owned

        items: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.items, Unset):
            items = []
            for items_item_data in self.items:
                items_item = items_item_data.to_dict()
                items.append(items_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "url": url,
                "access_code": access_code,
                "full_url": full_url,
                "already_owned": already_owned,
            }
        )
        if items is not UNSET:
            field_dict["items"] = items

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.unlock_item_view import UnlockItemView

        d = dict(src_dict)
        url = d.pop("url")

        access_code = d.pop("access_code")

        full_url = d.pop("full_url")

        already_owned = d.pop("already_owned")

        _items = d.pop("items", UNSET)
        items: list[UnlockItemView] | Unset = UNSET
        if _items is not UNSET:
            items = []
            for items_item_data in _items:
                items_item = UnlockItemView.from_dict(items_item_data)

                items.append(items_item)

        unlock_view = cls(
            url=url,
            access_code=access_code,
            full_url=full_url,
            already_owned=already_owned,
            items=items,
        )

        return unlock_view
