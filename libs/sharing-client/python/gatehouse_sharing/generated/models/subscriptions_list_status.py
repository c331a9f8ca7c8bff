from enum import StrEnum


class SubscriptionsListStatus(StrEnum):
    ACTIVE = "active"

    def __str__(self) -> str:
        return str(self.value)
