from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.checked_resource_view_pan_type import CheckedResourceViewPanType
from ..models.checked_resource_view_website import CheckedResourceViewWebsite

T = TypeVar("T", bound="CheckedResourceView")


@_attrs_define
class CheckedResourceView:
    """
    Attributes:
        website (CheckedResourceViewWebsite):
        pan_type (CheckedResourceViewPanType):
        supported (bool): False if the site is not known
        url (str): The link, without its access code
        base_link (str):
        access_code (str): Empty if there is none
        access_code_conflict (bool): Two different access codes were found
        share_id (None | str): Title of the share on its site
        full_url (str): The link with its access code
        default_unlock_points (int): Suggested price of a share of this link, in points
    """

    website: CheckedResourceViewWebsite
    pan_type: CheckedResourceViewPanType
    supported: bool
    url: str
    base_link: str
    access_code: str
    access_code_conflict: bool
    share_id: None | str
    full_url: str
    default_unlock_points: int

    def to_dict(self) -> dict[str, Any]:
        website = self.website.value

        pan_type = self.pan_type.value

        supported = self.supported

        url = self.url

        base_link = self.base_link

        access_code = self.access_code

        access_code_conflict = self.access_code_conflict

        share_id: None | str
        share_id = self.share_id

        full_url = self.full_url

        default_unlock_points = self.default_unlock_points

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "website": website,
                "pan_type": pan_type,
                "supported": supported,
                "url": url,
                "base_link": base_link,
                "access_code": access_code,
                "access_code_conflict": access_code_conflict,
                "share_id": share_id,
                "full_url": full_url,
                "default_unlock_points": default_unlock_points,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        website = CheckedResourceViewWebsite(d.pop("website"))

        pan_type = CheckedResourceViewPanType(d.pop("pan_type"))

        supported = d.pop("supported")

        url = d.pop("url")

        base_link = d.pop("base_link")

        access_code = d.pop("access_code")

        access_code_conflict = d.pop("access_code_conflict")

        def _parse_share_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        share_id = _parse_share_id(d.pop("share_id"))

        full_url = d.pop("full_url")

        default_unlock_points = d.pop("default_unlock_points")

        checked_resource_view = cls(
            website=website,
            pan_type=pan_type,
            supported=supported,
            url=url,
            base_link=base_link,
            access_code=access_code,
            access_code_conflict=access_code_conflict,
            share_id=share_id,
            full_url=full_url,
            default_unlock_points=default_unlock_points,
        )

        return checked_resource_view
