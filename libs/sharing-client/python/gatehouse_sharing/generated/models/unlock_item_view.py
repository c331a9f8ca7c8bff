from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="UnlockItemView")


@_attrs_define
class UnlockItemView:
    """
    Attributes:
        slug (str): 32 hex digits
        success (bool):
        code (str): 200, or the error code that the share alone would be answered with
        message (str):
        url (str): Empty without success, like the next two
        access_code (str):
        full_url (str):
        already_owned (bool): The caller already had access; nothing was paid
        retry_after_seconds (int | None): When a repeat makes sense; null without a limit
    """

    slug: str
    success: bool
    code: str
    message: str
    url: str
    access_code: str
    full_url: str
    already_owned: bool
    retry_after_seconds: int | None

    def to_dict(self) -> dict[str, Any]:
        slug = self.slug

        success = self.success

        code = self.code

        message = self.message

        url = self.url

        access_code = self.access_code

        full_url = self.full_url

        already_owned = self.already_owned

        retry_after_seconds: int | None
        retry_after_seconds = self.retry_after_seconds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "slug": slug,
                "success": success,
                "code": code,
                "message": message,
                "url": url,
                "access_code": access_code,
                "full_url": full_url,
                "already_owned": already_owned,
                "retry_after_seconds": retry_after_seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        slug = d.pop("slug")

        success = d.pop("success")

        code = d.pop("code")

        message = d.pop("message")

        url = d.pop("url")

        access_code = d.pop("access_code")

        full_url = d.pop("full_url")

        already_owned = d.pop("already_owned")

        def _parse_retry_after_seconds(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        retry_after_seconds = _parse_retry_after_seconds(d.pop("retry_after_seconds"))

        unlock_item_view = cls(
            slug=slug,
            success=success,
            code=code,
            message=message,
            url=url,
            access_code=access_code,
            full_url=full_url,
            already_owned=already_owned,
            retry_after_seconds=retry_after_seconds,
        )

        return unlock_item_view
