from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CheckInBody")


@_attrs_define
class CheckInBody:
    """
    Attributes:
        is_gambler (bool | None | Unset):
    """

    is_gambler: bool | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        is_gambler: bool | None | Unset
        if isinstance(self.is_gambler, Unset):
            is_gambler = UNSET
        else:
            is_gambler = self.is_gambler

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if is_gambler is not UNSET:
            field_dict["is_gambler"] = is_gambler

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_is_gambler(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        is_gambler = _parse_is_gambler(d.pop("is_gambler", UNSET))

        check_in_body = cls(
            is_gambler=is_gambler,
        )

        check_in_body.additional_properties = d
        return check_in_body

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
