from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.resource_item_view_pan_type import ResourceItemViewPanType

if TYPE_CHECKING:
    from ..models.sharer_view import SharerView


T = TypeVar("T", bound="ResourceItemView")


@_attrs_define
class ResourceItemView:
    """
    Attributes:
        slug (str): 32 hex digits
        title (None | str):
        pan_type (ResourceItemViewPanType):
        share_size (None | str):
        video_resolution (list[str]):
        source (list[str]):
        subtitle_language (list[str]):
        subtitle_type (list[str]):
        remark (None | str):
        unlock_points (int | None): Null: free
        is_unlocked (bool): True if the caller has unlocked the share or owns it
        unlocked_users_count (int):
        validate_status (None | str):
        validate_message (None | str):
        last_validated_at (None | str): YYYY-MM-DD HH:mm:ss
        is_official (bool):
        user (None | SharerView): Null if the sharer is anonymous
        created_at (str): YYYY-MM-DD HH:mm:ss
    """

    slug: str
    title: None | str
    pan_type: ResourceItemViewPanType
    share_size: None | str
    video_resolution: list[str]
    source: list[str]
    subtitle_language: list[str]
    subtitle_type: list[str]
    remark: None | str
    unlock_points: int | None
    is_unlocked: bool
    unlocked_users_count: int
    validate_status: None | str
    validate_message: None | str
    last_validated_at: None | str
    is_official: bool
    user: None | SharerView
    created_at: str

    def to_dict(self) -> dict[str, Any]:
        from ..models.sharer_view import SharerView

        slug = self.slug

        title: None | str
        title = self.title

        pan_type = self.pan_type.value

        share_size: None | str
        share_size = self.share_size

        video_resolution = self.video_resolution

        source = self.source

        subtitle_language = self.subtitle_language

        subtitle_type = self.subtitle_type

        remark: None | str
        remark = self.remark

        unlock_points: int | None
        unlock_points = self.unlock_points

        is_unlocked = self.is_unlocked

        unlocked_users_count = self.unlocked_users_count

        validate_status: None | str
        validate_status = self.validate_status

        validate_message: None | str
        validate_message = self.validate_message

        last_validated_at: None | str
        last_validated_at = self.last_validated_at

        is_official = self.is_official

        user: dict[str, Any] | None
        if isinstance(self.user, SharerView):
            user = self.user.to_dict()
        else:
            user = self.user

        created_at = self.created_at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "slug": slug,
                "title": title,
                "pan_type": pan_type,
                "share_size": share_size,
                "video_resolution": video_resolution,
                "source": source,
                "subtitle_language": subtitle_language,
                "subtitle_type": subtitle_type,
                "remark": remark,
                "unlock_points": unlock_points,
                "is_unlocked": is_unlocked,
                "unlocked_users_count": unlocked_users_count,
                "validate_status": validate_status,
                "validate_message": validate_message,
                "last_validated_at": last_validated_at,
                "is_official": is_official,
                "user": user,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.sharer_view import SharerView

        d = dict(src_dict)
        slug = d.pop("slug")

        def _parse_title(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        title = _parse_title(d.pop("title"))

        pan_type = ResourceItemViewPanType(d.pop("pan_type"))

        def _parse_share_size(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        share_size = _parse_share_size(d.pop("share_size"))

        video_resolution = cast(list[str], d.pop("video_resolution"))

        source = cast(list[str], d.pop("source"))

        subtitle_language = cast(list[str], d.pop("subtitle_language"))

        subtitle_type = cast(list[str], d.pop("subtitle_type"))

        def _parse_remark(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        remark = _parse_remark(d.pop("remark"))

        def _parse_unlock_points(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        unlock_points = _parse_unlock_points(d.pop("unlock_points"))

        is_unlocked = d.pop("is_unlocked")

        unlocked_users_count = d.pop("unlocked_users_count")

        def _parse_validate_status(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        validate_status = _parse_validate_status(d.pop("validate_status"))

        def _parse_validate_message(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        validate_message = _parse_validate_message(d.pop("validate_message"))

        def _parse_last_validated_at(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        last_validated_at = _parse_last_validated_at(d.pop("last_validated_at"))

        is_official = d.pop("is_official")

        def _parse_user(data: object) -> None | SharerView:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                user_type_0 = SharerView.from_dict(data)

                return user_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SharerView, data)

        user = _parse_user(d.pop("user"))

        created_at = d.pop("created_at")

        resource_item_view = cls(
            slug=slug,
            title=title,
            pan_type=pan_type,
            share_size=share_size,
            video_resolution=video_resolution,
            source=source,
            subtitle_language=subtitle_language,
            subtitle_type=subtitle_type,
            remark=remark,
            unlock_points=unlock_points,
            is_unlocked=is_unlocked,
            unlocked_users_count=unlocked_users_count,
            validate_status=validate_status,
            validate_message=validate_message,
            last_validated_at=last_validated_at,
            is_official=is_official,
            user=user,
            created_at=created_at,
        )

        return resource_item_view
