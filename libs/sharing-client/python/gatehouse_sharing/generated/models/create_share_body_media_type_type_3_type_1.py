from enum import StrEnum


class CreateShareBodyMediaTypeType3Type1(StrEnum):
    MOVIE = "movie"
    TV = "tv"

    def __str__(self) -> str:
        return str(self.value)
