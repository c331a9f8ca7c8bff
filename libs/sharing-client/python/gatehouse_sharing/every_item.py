from collections.abc import Callable, Iterator
from typing import Any


def every_item(load: Callable[[int], Any]) -> Iterator[Any]:
    """All items of a paged list, page by page as they are needed.

    every_item(lambda page: shares_list.sync(client=client.api, page=page, page_size=100))
    """
    seen = 0
    page = 1
    while True:
        answer = load(page)
        if answer is None or not answer.data:
            return
        yield from answer.data
        seen += len(answer.data)
        if seen >= answer.meta.total:
            return
        page += 1
