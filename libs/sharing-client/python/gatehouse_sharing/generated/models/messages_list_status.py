from enum import StrEnum


class MessagesListStatus(StrEnum):
    READ = "read"
    UNREAD = "unread"

    def __str__(self) -> str:
        return str(self.value)
