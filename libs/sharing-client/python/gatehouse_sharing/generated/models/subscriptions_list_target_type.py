from enum import StrEnum


class SubscriptionsListTargetType(StrEnum):
    MEDIA_RESOURCE = "media_resource"

    def __str__(self) -> str:
        return str(self.value)
