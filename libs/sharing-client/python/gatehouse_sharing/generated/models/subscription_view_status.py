from enum import StrEnum


class SubscriptionViewStatus(StrEnum):
    ACTIVE = "active"

    def __str__(self) -> str:
        return str(self.value)
