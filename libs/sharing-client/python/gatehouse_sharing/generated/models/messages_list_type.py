from enum import StrEnum


class MessagesListType(StrEnum):
    SUBSCRIPTION = "subscription"

    def __str__(self) -> str:
        return str(self.value)
