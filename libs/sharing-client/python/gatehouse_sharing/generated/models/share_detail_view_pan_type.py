from enum import StrEnum


class ShareDetailViewPanType(StrEnum):
    ALIYUN = "aliyun"
    BAIDU = "baidu"
    ED2K = "ed2k"
    GUANGYA = "guangya"
    MAGNET = "magnet"
    MOBILE = "mobile"
    OTHERS = "others"
    PIKPAK = "pikpak"
    QUARK = "quark"
    TIANYI = "tianyi"
    UC = "uc"
    VALUE_0 = "115"
    VALUE_1 = "123"
    XUNLEI = "xunlei"

    def __str__(self) -> str:
        return str(self.value)
