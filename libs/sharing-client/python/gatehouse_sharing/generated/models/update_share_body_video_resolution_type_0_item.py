from enum import StrEnum


class UpdateShareBodyVideoResolutionType0Item(StrEnum):
    VALUE_0 = "480P"
    VALUE_1 = "720P"
    VALUE_2 = "1080P"
    VALUE_3 = "2K"
    VALUE_4 = "4K"
    VALUE_5 = "8K"

    def __str__(self) -> str:
        return str(self.value)
