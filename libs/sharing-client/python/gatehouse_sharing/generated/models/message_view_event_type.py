from enum import StrEnum


class MessageViewEventType(StrEnum):
    SHARE_CREATED = "share.created"
    SHARE_UPDATED = "share.updated"

    def __str__(self) -> str:
        return str(self.value)
