/** A page of a list as `api.GET` returns it. */
interface PageAnswer<Item> {
  readonly data?: { readonly data: readonly Item[]; readonly meta: { readonly total: number } };
}

/**
 * All items of a paged list, page by page as they are needed:
 * `everyItem((page) => client.api.GET('/api/open/shares', { params: { query: { page, page_size: 100 } } }))`.
 */
export async function* everyItem<Item>(
  load: (page: number) => Promise<PageAnswer<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let seen = 0;
  for (let page = 1; ; page++) {
    const { data } = await load(page);
    if (data === undefined || data.data.length === 0) return;
    yield* data.data;
    seen += data.data.length;
    if (seen >= data.meta.total) return;
  }
}
