from enum import StrEnum


class UpdateShareBodySourceType0Item(StrEnum):
    BDRIPBLURAYENCODE = "BDRip/BluRayEncode"
    HDTVHDTVRIP = "HDTV/HDTVRip"
    WEB_DLWEBRIP = "WEB-DL/WEBRip"
    蓝光原盘ISO = "蓝光原盘/ISO"
    蓝光原盘REMUX = "蓝光原盘/REMUX"

    def __str__(self) -> str:
        return str(self.value)
