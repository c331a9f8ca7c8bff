from enum import StrEnum


class UpdateShareBodySubtitleTypeType0Item(StrEnum):
    内封 = "内封"
    内嵌 = "内嵌"
    外挂 = "外挂"

    def __str__(self) -> str:
        return str(self.value)
