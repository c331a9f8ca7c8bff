from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.user_meta_view import UserMetaView


T = TypeVar("T", bound="ProfileView")


@_attrs_define
class ProfileView:
    """
    Attributes:
        id (int):
        nickname (str):
        username (str):
        email (str): Empty if there is none
        avatar_url (str): Empty if there is none
        is_vip (bool):
        vip_expiration_date (datetime.datetime | None):
        last_active_at (datetime.datetime | None):
        points (int):
        level (int): 0: member, 1: Premium, 2: lifetime Premium
        user_meta (UserMetaView):
        telegram_user (None): Always null; Telegram accounts are not supported
        created_at (datetime.datetime):
    """

    id: int
    nickname: str
    username: str
    email: str
    avatar_url: str
    is_vip: bool
    vip_expiration_date: datetime.datetime | None
    last_active_at: datetime.datetime | None
    points: int
    level: int
    user_meta: UserMetaView
    telegram_user: None
    created_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        nickname = self.nickname

        username = self.username

        email = self.email

        avatar_url = self.avatar_url

        is_vip = self.is_vip

        vip_expiration_date: None | str
        if isinstance(self.vip_expiration_date, datetime.datetime):
            vip_expiration_date = self.vip_expiration_date.isoformat()
        else:
            vip_expiration_date = self.vip_expiration_date

        last_active_at: None | str
        if isinstance(self.last_active_at, datetime.datetime):
            last_active_at = self.last_active_at.isoformat()
        else:
            last_active_at = self.last_active_at

        points = self.points

        level = self.level

        user_meta = self.user_meta.to_dict()

        telegram_user = self.telegram_user

        created_at = self.created_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "nickname": nickname,
                "username": username,
                "email": email,
                "avatar_url": avatar_url,
                "is_vip": is_vip,
                "vip_expiration_date": vip_expiration_date,
                "last_active_at": last_active_at,
                "points": points,
                "level": level,
                "user_meta": user_meta,
                "telegram_user": telegram_user,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.user_meta_view import UserMetaView

        d = dict(src_dict)
        id = d.pop("id")

        nickname = d.pop("nickname")

        username = d.pop("username")

        email = d.pop("email")

        avatar_url = d.pop("avatar_url")

        is_vip = d.pop("is_vip")

        def _parse_vip_expiration_date(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                vip_expiration_date_type_0 = datetime.datetime.fromisoformat(data)

                return vip_expiration_date_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        vip_expiration_date = _parse_vip_expiration_date(d.pop("vip_expiration_date"))

        def _parse_last_active_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_active_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_active_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_active_at = _parse_last_active_at(d.pop("last_active_at"))

        points = d.pop("points")

        level = d.pop("level")

        user_meta = UserMetaView.from_dict(d.pop("user_meta"))

        telegram_user = d.pop("telegram_user")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        profile_view = cls(
            id=id,
            nickname=nickname,
            username=username,
            email=email,
            avatar_url=avatar_url,
            is_vip=is_vip,
            vip_expiration_date=vip_expiration_date,
            last_active_at=last_active_at,
            points=points,
            level=level,
            user_meta=user_meta,
            telegram_user=telegram_user,
            created_at=created_at,
        )

        return profile_view
