from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.create_share_body_media_type_type_1 import CreateShareBodyMediaTypeType1
from ..models.create_share_body_media_type_type_2_type_1 import (
    CreateShareBodyMediaTypeType2Type1,
)
from ..models.create_share_body_media_type_type_3_type_1 import (
    CreateShareBodyMediaTypeType3Type1,
)
from ..models.create_share_body_source_type_0_item import CreateShareBodySourceType0Item
from ..models.create_share_body_subtitle_language_type_0_item import (
    CreateShareBodySubtitleLanguageType0Item,
)
from ..models.create_share_body_subtitle_type_type_0_item import (
    CreateShareBodySubtitleTypeType0Item,
)
from ..models.create_share_body_video_resolution_type_0_item import (
    CreateShareBodyVideoResolutionType0Item,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="CreateShareBody")


@_attrs_define
class CreateShareBody:
    """
    Attributes:
        url (str):
        title (None | str | Unset):
        share_size (None | str | Unset):
        video_resolution (list[CreateShareBodyVideoResolutionType0Item] | None | Unset):
        source (list[CreateShareBodySourceType0Item] | None | Unset):
        subtitle_language (list[CreateShareBodySubtitleLanguageType0Item] | None | Unset):
        subtitle_type (list[CreateShareBodySubtitleTypeType0Item] | None | Unset):
        remark (None | str | Unset):
        access_code (None | str | Unset):
        unlock_points (int | None | Unset):
        tmdb_id (None | str | Unset):
        media_type (CreateShareBodyMediaTypeType1 | CreateShareBodyMediaTypeType2Type1 |
            CreateShareBodyMediaTypeType3Type1 | None | Unset):
        movie_id (int | None | Unset):
        tv_id (int | None | Unset):
        collection_id (int | None | Unset):
        is_anonymous (bool | None | Unset):
        hide_link (bool | None | Unset):
    """

    url: str
    title: None | str | Unset = UNSET
    share_size: None | str | Unset = UNSET
    video_resolution: list[CreateShareBodyVideoResolutionType0Item] | None | Unset = (
        UNSET
    )
    source: list[CreateShareBodySourceType0Item] | None | Unset = UNSET
    subtitle_language: list[CreateShareBodySubtitleLanguageType0Item] | None | Unset = (
        UNSET
    )
    subtitle_type: list[CreateShareBodySubtitleTypeType0Item] | None | Unset = UNSET
    remark: None | str | Unset = UNSET
    access_code: None | str | Unset = UNSET
    unlock_points: int | None | Unset = UNSET
    tmdb_id: None | str | Unset = UNSET
    media_type: (
        CreateShareBodyMediaTypeType1
        | CreateShareBodyMediaTypeType2Type1
        | CreateShareBodyMediaTypeType3Type1
        | None
        | Unset
    ) = UNSET
    movie_id: int | None | Unset = UNSET
    tv_id: int | None | Unset = UNSET
    collection_id: int | None | Unset = UNSET
    is_anonymous: bool | None | Unset = UNSET
    hide_link: bool | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        url = self.url

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

        tmdb_id: None | str | Unset
        if isinstance(self.tmdb_id, Unset):
            tmdb_id = UNSET
        else:
            tmdb_id = self.tmdb_id

        media_type: None | str | Unset
        if isinstance(self.media_type, Unset):
            media_type = UNSET
        elif (
            isinstance(self.media_type, CreateShareBodyMediaTypeType1)
            or isinstance(self.media_type, CreateShareBodyMediaTypeType2Type1)
            or isinstance(self.media_type, CreateShareBodyMediaTypeType3Type1)
        ):
            media_type = self.media_type.value
        else:
            media_type = self.media_type

        movie_id: int | None | Unset
        if isinstance(self.movie_id, Unset):
            movie_id = UNSET
        else:
            movie_id = self.movie_id

        tv_id: int | None | Unset
        if isinstance(self.tv_id, Unset):
            tv_id = UNSET
        else:
            tv_id = self.tv_id

        collection_id: int | None | Unset
        if isinstance(self.collection_id, Unset):
            collection_id = UNSET
        else:
            collection_id = self.collection_id

        is_anonymous: bool | None | Unset
        if isinstance(self.is_anonymous, Unset):
            is_anonymous = UNSET
        else:
            is_anonymous = self.is_anonymous

        hide_link: bool | None | Unset
        if isinstance(self.hide_link, Unset):
            hide_link = UNSET
        else:
            hide_link = self.hide_link

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "url": url,
            }
        )
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
        if tmdb_id is not UNSET:
            field_dict["tmdb_id"] = tmdb_id
        if media_type is not UNSET:
            field_dict["media_type"] = media_type
        if movie_id is not UNSET:
            field_dict["movie_id"] = movie_id
        if tv_id is not UNSET:
            field_dict["tv_id"] = tv_id
        if collection_id is not UNSET:
            field_dict["collection_id"] = collection_id
        if is_anonymous is not UNSET:
            field_dict["is_anonymous"] = is_anonymous
        if hide_link is not UNSET:
            field_dict["hide_link"] = hide_link

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        url = d.pop("url")

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
        ) -> list[CreateShareBodyVideoResolutionType0Item] | None | Unset:
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
                        CreateShareBodyVideoResolutionType0Item(
                            video_resolution_type_0_item_data
                        )
                    )

                    video_resolution_type_0.append(video_resolution_type_0_item)

                return video_resolution_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[CreateShareBodyVideoResolutionType0Item] | None | Unset, data
            )

        video_resolution = _parse_video_resolution(d.pop("video_resolution", UNSET))

        def _parse_source(
            data: object,
        ) -> list[CreateShareBodySourceType0Item] | None | Unset:
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
                    source_type_0_item = CreateShareBodySourceType0Item(
                        source_type_0_item_data
                    )

                    source_type_0.append(source_type_0_item)

                return source_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CreateShareBodySourceType0Item] | None | Unset, data)

        source = _parse_source(d.pop("source", UNSET))

        def _parse_subtitle_language(
            data: object,
        ) -> list[CreateShareBodySubtitleLanguageType0Item] | None | Unset:
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
                        CreateShareBodySubtitleLanguageType0Item(
                            subtitle_language_type_0_item_data
                        )
                    )

                    subtitle_language_type_0.append(subtitle_language_type_0_item)

                return subtitle_language_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[CreateShareBodySubtitleLanguageType0Item] | None | Unset, data
            )

        subtitle_language = _parse_subtitle_language(d.pop("subtitle_language", UNSET))

        def _parse_subtitle_type(
            data: object,
        ) -> list[CreateShareBodySubtitleTypeType0Item] | None | Unset:
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
                    subtitle_type_type_0_item = CreateShareBodySubtitleTypeType0Item(
                        subtitle_type_type_0_item_data
                    )

                    subtitle_type_type_0.append(subtitle_type_type_0_item)

                return subtitle_type_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CreateShareBodySubtitleTypeType0Item] | None | Unset, data)

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

        def _parse_tmdb_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        tmdb_id = _parse_tmdb_id(d.pop("tmdb_id", UNSET))

        def _parse_media_type(
            data: object,
        ) -> (
            CreateShareBodyMediaTypeType1
            | CreateShareBodyMediaTypeType2Type1
            | CreateShareBodyMediaTypeType3Type1
            | None
            | Unset
        ):
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                media_type_type_1 = CreateShareBodyMediaTypeType1(data)

                return media_type_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                media_type_type_2_type_1 = CreateShareBodyMediaTypeType2Type1(data)

                return media_type_type_2_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                media_type_type_3_type_1 = CreateShareBodyMediaTypeType3Type1(data)

                return media_type_type_3_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                CreateShareBodyMediaTypeType1
                | CreateShareBodyMediaTypeType2Type1
                | CreateShareBodyMediaTypeType3Type1
                | None
                | Unset,
                data,
            )

        media_type = _parse_media_type(d.pop("media_type", UNSET))

        def _parse_movie_id(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        movie_id = _parse_movie_id(d.pop("movie_id", UNSET))

        def _parse_tv_id(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        tv_id = _parse_tv_id(d.pop("tv_id", UNSET))

        def _parse_collection_id(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        collection_id = _parse_collection_id(d.pop("collection_id", UNSET))

        def _parse_is_anonymous(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        is_anonymous = _parse_is_anonymous(d.pop("is_anonymous", UNSET))

        def _parse_hide_link(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        hide_link = _parse_hide_link(d.pop("hide_link", UNSET))

        create_share_body = cls(
            url=url,
            title=title,
            share_size=share_size,
            video_resolution=video_resolution,
            source=source,
            subtitle_language=subtitle_language,
            subtitle_type=subtitle_type,
            remark=remark,
            access_code=access_code,
            unlock_points=unlock_points,
            tmdb_id=tmdb_id,
            media_type=media_type,
            movie_id=movie_id,
            tv_id=tv_id,
            collection_id=collection_id,
            is_anonymous=is_anonymous,
            hide_link=hide_link,
        )

        create_share_body.additional_properties = d
        return create_share_body

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
