from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.subscription_view_status import SubscriptionViewStatus
from ..models.subscription_view_target_type import SubscriptionViewTargetType

if TYPE_CHECKING:
    from ..models.media_view import MediaView


T = TypeVar("T", bound="SubscriptionView")


@_attrs_define
class SubscriptionView:
    """
    Attributes:
        id (int):
        target_type (SubscriptionViewTargetType):
        target_id (int): `media.id`
        target_key (str): Type and id of the title, such as `tv:7`
        status (SubscriptionViewStatus):
        media (MediaView):
        created_at (str): YYYY-MM-DD HH:mm:ss
    """

    id: int
    target_type: SubscriptionViewTargetType
    target_id: int
    target_key: str
    status: SubscriptionViewStatus
    media: MediaView
    created_at: str

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        target_type = self.target_type.value

        target_id = self.target_id

        target_key = self.target_key

        status = self.status.value

        media = self.media.to_dict()

        created_at = self.created_at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "target_type": target_type,
                "target_id": target_id,
                "target_key": target_key,
                "status": status,
                "media": media,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.media_view import MediaView

        d = dict(src_dict)
        id = d.pop("id")

        target_type = SubscriptionViewTargetType(d.pop("target_type"))

        target_id = d.pop("target_id")

        target_key = d.pop("target_key")

        status = SubscriptionViewStatus(d.pop("status"))

        media = MediaView.from_dict(d.pop("media"))

        created_at = d.pop("created_at")

        subscription_view = cls(
            id=id,
            target_type=target_type,
            target_id=target_id,
            target_key=target_key,
            status=status,
            media=media,
            created_at=created_at,
        )

        return subscription_view
