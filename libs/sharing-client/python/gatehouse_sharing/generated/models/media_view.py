from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.media_view_type import MediaViewType

T = TypeVar("T", bound="MediaView")


@_attrs_define
class MediaView:
    """
    Attributes:
        id (int): Id of the title here: `movie_id`, `tv_id` or `collection_id`
        type_ (MediaViewType):
        tmdb_id (str):
        title (None | str):
    """

    id: int
    type_: MediaViewType
    tmdb_id: str
    title: None | str

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        type_ = self.type_.value

        tmdb_id = self.tmdb_id

        title: None | str
        title = self.title

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "type": type_,
                "tmdb_id": tmdb_id,
                "title": title,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        type_ = MediaViewType(d.pop("type"))

        tmdb_id = d.pop("tmdb_id")

        def _parse_title(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        title = _parse_title(d.pop("title"))

        media_view = cls(
            id=id,
            type_=type_,
            tmdb_id=tmdb_id,
            title=title,
        )

        return media_view
