from enum import StrEnum


class SubscriptionViewTargetType(StrEnum):
    MEDIA_RESOURCE = "media_resource"

    def __str__(self) -> str:
        return str(self.value)
