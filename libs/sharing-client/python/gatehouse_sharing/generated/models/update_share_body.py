from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.update_share_body_source_type_0_item import UpdateShareBodySourceType0Item
from ..models.update_share_body_subtitle_language_type_0_item import (
    UpdateShareBodySubtitleLanguageType0Item,
)
from ..models.update_share_body_subtitle_type_type_0_item import (
    UpdateShareBodySubtitleTypeType0Item,
)
from ..models.update_share_body_video_resolution_type_0_item import (
    UpdateShareBodyVideoResolutionType0Item,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="UpdateShareBody")


@_attrs_define
class UpdateShareBody:
    """
    Attributes:
        title (None | str | Unset):
        share_size (None | str | Unset):
        video_resolution (list[UpdateShareBodyVideoResolutionType0Item] | None | Unset):
        source (list[UpdateShareBodySourceType0Item] | None | Unset):
        subtitle_language (list[UpdateShareBodySubtitleLanguageType0Item] | None | Unset):
        subtitle_type (list[UpdateShareBodySubtitleTypeType0Item] | None | Unset):
        remark (None | str | Unset):
        access_code (None | str | Unset):
        unlock_points (int | None | Unset):
        url (str | Unset):
        is_anonymous (bool | Unset):
        hide_link (bool | Unset):
        notify (bool | Unset):
    """

    title: None | str | Unset = UNSET
    share_size: None | str | Unset = UNSET
    video_resolution: list[UpdateShareBodyVideoResolutionType0Item] | None | Unset = (
        UNSET
    )
    source: list[UpdateShareBodySourceType0Item] | None | Unset = UNSET
    subtitle_language: list[UpdateShareBodySubtitleLanguageType0Item] | None | Unset = (
        UNSET
    )
    subtitle_type: list[UpdateShareBodySubtitleTypeType0Item] | None | Unset = UNSET
    remark: None | str | Unset = UNSET
    access_code: None | str | Unset = UNSET
    unlock_points: int | None | Unset = UNSET
    url: str | Unset = UNSET
    is_anonymous: bool | Unset = UNSET
    hide_link: bool | Unset = UNSET
    notify: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        title: None | str | Unset
        if isinstance(self.title, Unset):
            title = UNSET
        else:
            title = self.title

        share_size: None | str | Unset
        if isinstance(self.share_size, Unset):
            share_size = UNSET
        else:
            share_size = self.share_size

        video_resolution: list[str] | None | Unset
        if isinstance(self.video_resolution, Unset):
            video_resolution = UNSET
        elif isinstance(self.video_resolution, list):
            video_resolution = []
            for video_resolution_type_0_item_data in self.video_resolution:
                video_resolution_type_0_item = video_resolution_type_0_item_data.value
                video_resolution.append(video_resolution_type_0_item)

        else:
            video_resolution = self.video_resolution

        source: list[str] | None | Unset
        if isinstance(self.source, Unset):
            source = UNSET
        elif isinstance(self.source, list):
            source = []
            for source_type_0_item_data in self.source:
                source_type_0_item = source_type_0_item_data.value
                source.append(source_type_0_item)

        else:
            source = self.source

        subtitle_language: list[str] | None | Unset
        if isinstance(self.subtitle_language, Unset):
            subtitle_language = UNSET
        elif isinstance(self.subtitle_language, list):
            subtitle_language = []
            for subtitle_language_type_0_item_data in self.subtitle_language:
                subtitle_language_type_0_item = subtitle_language_type_0_item_data.value
                subtitle_language.append(subtitle_language_type_0_item)

        else:
            subtitle_language = self.subtitle_language

        subtitle_type: list[str] | None | Unset
        if isinstance(self.subtitle_type, Unset):
            subtitle_type = UNSET
        elif isinstance(self.subtitle_type, list):
            subtitle_type = []
            for subtitle_type_type_0_item_data in self.subtitle_type:
                subtitle_type_type_0_item = subtitle_type_type_0_item_data.value
                subtitle_type.append(subtitle_type_type_0_item)

        else:
            subtitle_type = self.subtitle_type

        remark: None | str | Unset
        if isinstance(self.remark, Unset):
            remark = UNSET
        else:
            remark = self.remark

        access_code: None | str | Unset
        if isinstance(self.access_code, Unset):
            access_code = UNSET
        else:
            access_code = self.access_code

        unlock_points: int | None | Unset
        if isinstance(self.unlock_points, Unset):
            unlock_points = UNSET
        else:
            unlock_points = self.unlock_points

        url = self.url

        is_anonymous = self.is_anonymous

        hide_link = self.hide_link

        notify = self.notify

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if title is not UNSET:
            field_dict["title"] = title
        if share_size is not UNSET:
            field_dict["share_size"] = share_size
        if video_resolution is not UNSET:
            field_dict["video_resolution"] = video_resolution
        if source is not UNSET:
            field_dict["source"] = source
        if subtitle_language is not UNSET:
            field_dict["subtitle_language"] = subtitle_language
        if subtitle_type is not UNSET:
            field_dict["subtitle_type"] = subtitle_type
        if remark is not UNSET:
            field_dict["remark"] = remark
        if access_code is not UNSET:
            field_dict["access_code"] = access_code
        if unlock_points is not UNSET:
            field_dict["unlock_points"] = unlock_points
        if url is not UNSET:
            field_dict["url"] = url
        if is_anonymous is not UNSET:
            field_dict["is_anonymous"] = is_anonymous
        if hide_link is not UNSET:
            field_dict["hide_link"] = hide_link
        if notify is not UNSET:
            field_dict["notify"] = notify

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_title(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        title = _parse_title(d.pop("title", UNSET))

        def _parse_share_size(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        share_size = _parse_share_size(d.pop("share_size", UNSET))

        def _parse_video_resolution(
            data: object,
        ) -> list[UpdateShareBodyVideoResolutionType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                video_resolution_type_0 = []
                _video_resolution_type_0 = data
                for video_resolution_type_0_item_data in _video_resolution_type_0:
                    video_resolution_type_0_item = (
                        UpdateShareBodyVideoResolutionType0Item(
                            video_resolution_type_0_item_data
                        )
                    )

                    video_resolution_type_0.append(video_resolution_type_0_item)

                return video_resolution_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[UpdateShareBodyVideoResolutionType0Item] | None | Unset, data
            )

        video_resolution = _parse_video_resolution(d.pop("video_resolution", UNSET))

        def _parse_source(
            data: object,
        ) -> list[UpdateShareBodySourceType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                source_type_0 = []
                _source_type_0 = data
                for source_type_0_item_data in _source_type_0:
                    source_type_0_item = UpdateShareBodySourceType0Item(
                        source_type_0_item_data
                    )

                    source_type_0.append(source_type_0_item)

                return source_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[UpdateShareBodySourceType0Item] | None | Unset, data)

        source = _parse_source(d.pop("source", UNSET))

        def _parse_subtitle_language(
            data: object,
        ) -> list[UpdateShareBodySubtitleLanguageType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                subtitle_language_type_0 = []
                _subtitle_language_type_0 = data
                for subtitle_language_type_0_item_data in _subtitle_language_type_0:
                    subtitle_language_type_0_item = (
                        UpdateShareBodySubtitleLanguageType0Item(
                            subtitle_language_type_0_item_data
                        )
                    )

                    subtitle_language_type_0.append(subtitle_language_type_0_item)

                return subtitle_language_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[UpdateShareBodySubtitleLanguageType0Item] | None | Unset, data
            )

        subtitle_language = _parse_subtitle_language(d.pop("subtitle_language", UNSET))

        def _parse_subtitle_type(
            data: object,
        ) -> list[UpdateShareBodySubtitleTypeType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                subtitle_type_type_0 = []
                _subtitle_type_type_0 = data
                for subtitle_type_type_0_item_data in _subtitle_type_type_0:
                    subtitle_type_type_0_item = UpdateShareBodySubtitleTypeType0Item(
                        subtitle_type_type_0_item_data
                    )

                    subtitle_type_type_0.append(subtitle_type_type_0_item)

                return subtitle_type_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[UpdateShareBodySubtitleTypeType0Item] | None | Unset, data)

        subtitle_type = _parse_subtitle_type(d.pop("subtitle_type", UNSET))

        def _parse_remark(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        remark = _parse_remark(d.pop("remark", UNSET))

        def _parse_access_code(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        access_code = _parse_access_code(d.pop("access_code", UNSET))

        def _parse_unlock_points(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        unlock_points = _parse_unlock_points(d.pop("unlock_points", UNSET))

        url = d.pop("url", UNSET)

        is_anonymous = d.pop("is_anonymous", UNSET)

        hide_link = d.pop("hide_link", UNSET)

        notify = d.pop("notify", UNSET)

        update_share_body = cls(
            title=title,
            share_size=share_size,
            video_resolution=video_resolution,
            source=source,
            subtitle_language=subtitle_language,
            subtitle_type=subtitle_type,
            remark=remark,
            access_code=access_code,
            unlock_points=unlock_points,
            url=url,
            is_anonymous=is_anonymous,
            hide_link=hide_link,
            notify=notify,
        )

        return update_share_body
