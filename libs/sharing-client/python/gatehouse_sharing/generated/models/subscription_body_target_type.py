from enum import StrEnum


class SubscriptionBodyTargetType(StrEnum):
    MEDIA_RESOURCE = "media_resource"

    def __str__(self) -> str:
        return str(self.value)
