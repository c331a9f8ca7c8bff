from enum import StrEnum


class UpdateShareBodySubtitleLanguageType0Item(StrEnum):
    生肉 = "生肉"
    简中 = "简中"
    简日 = "简日"
    简日双语 = "简日双语"
    简英 = "简英"
    简英双语 = "简英双语"
    简韩 = "简韩"
    繁中 = "繁中"
    繁日 = "繁日"
    繁日双语 = "繁日双语"
    繁英 = "繁英"
    繁英双语 = "繁英双语"
    繁韩 = "繁韩"

    def __str__(self) -> str:
        return str(self.value)
