from enum import StrEnum


class CreateShareBodyMediaTypeType2Type1(StrEnum):
    MOVIE = "movie"
    TV = "tv"

    def __str__(self) -> str:
        return str(self.value)
