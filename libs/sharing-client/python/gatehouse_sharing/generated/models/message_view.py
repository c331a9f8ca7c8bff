from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.message_view_event_type import MessageViewEventType
from ..models.message_view_type import MessageViewType

if TYPE_CHECKING:
    from ..models.media_view import MediaView


T = TypeVar("T", bound="MessageView")


@_attrs_define
class MessageView:
    """
    Attributes:
        id (int):
        type_ (MessageViewType):
        event_type (MessageViewEventType): Updated: its sharer asks to look again
        title (str):
        slug (str): The share; 32 hex digits
        media (MediaView):
        is_read (bool):
        created_at (str): YYYY-MM-DD HH:mm:ss
    """

    id: int
    type_: MessageViewType
    event_type: MessageViewEventType
    title: str
    slug: str
    media: MediaView
    is_read: bool
    created_at: str

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        type_ = self.type_.value

        event_type = self.event_type.value

        title = self.title

        slug = self.slug

        media = self.media.to_dict()

        is_read = self.is_read

        created_at = self.created_at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "type": type_,
                "event_type": event_type,
                "title": title,
                "slug": slug,
                "media": media,
                "is_read": is_read,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.media_view import MediaView

        d = dict(src_dict)
        id = d.pop("id")

        type_ = MessageViewType(d.pop("type"))

        event_type = MessageViewEventType(d.pop("event_type"))

        title = d.pop("title")

        slug = d.pop("slug")

        media = MediaView.from_dict(d.pop("media"))

        is_read = d.pop("is_read")

        created_at = d.pop("created_at")

        message_view = cls(
            id=id,
            type_=type_,
            event_type=event_type,
            title=title,
            slug=slug,
            media=media,
            is_read=is_read,
            created_at=created_at,
        )

        return message_view
