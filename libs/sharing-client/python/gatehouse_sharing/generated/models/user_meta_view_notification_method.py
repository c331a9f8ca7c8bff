from enum import StrEnum


class UserMetaViewNotificationMethod(StrEnum):
    NONE = "none"

    def __str__(self) -> str:
        return str(self.value)
