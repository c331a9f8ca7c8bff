from enum import StrEnum


class MediaViewType(StrEnum):
    COLLECTION = "collection"
    MOVIE = "movie"
    TV = "tv"

    def __str__(self) -> str:
        return str(self.value)
