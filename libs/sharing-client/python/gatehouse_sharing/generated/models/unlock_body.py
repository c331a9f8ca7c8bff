from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="UnlockBody")


@_attrs_define
class UnlockBody:
    """
    Attributes:
        slug (str | Unset):
        slugs (list[str] | Unset):
    """

    slug: str | Unset = UNSET
    slugs: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        slug = self.slug

        slugs: list[str] | Unset = UNSET
        if not isinstance(self.slugs, Unset):
            slugs = self.slugs

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if slug is not UNSET:
            field_dict["slug"] = slug
        if slugs is not UNSET:
            field_dict["slugs"] = slugs

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        slug = d.pop("slug", UNSET)

        slugs = cast(list[str], d.pop("slugs", UNSET))

        unlock_body = cls(
            slug=slug,
            slugs=slugs,
        )

        unlock_body.additional_properties = d
        return unlock_body

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
