from enum import StrEnum


class ResourcesOfTitleType(StrEnum):
    MOVIE = "movie"
    TV = "tv"

    def __str__(self) -> str:
        return str(self.value)
