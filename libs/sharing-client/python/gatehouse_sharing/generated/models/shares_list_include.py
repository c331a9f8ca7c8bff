from enum import StrEnum


class SharesListInclude(StrEnum):
    LINK = "link"

    def __str__(self) -> str:
        return str(self.value)
