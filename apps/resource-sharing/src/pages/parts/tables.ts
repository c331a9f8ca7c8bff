import { Html, markup, type Content } from './markup.js';

/** A table with a caption for those who cannot see where it stands; a sentence where it would be empty. */
export function dataTable(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Content[])[],
  none: string,
): Html {
  if (rows.length === 0) return markup`<p class="quiet">${none}</p>`;
  return markup`<div class="table" role="region" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map((column) => markup`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => markup`<tr>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>`)}</tbody>
</table></div>`;
}

export function facts(pairs: readonly (readonly [string, Content])[]): Html {
  return markup`<dl>${pairs.map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** Links to the pages before and after; `path` has every other parameter already. */
export function pager(path: string, page: number, hasMore: boolean): Content {
  if (page === 1 && !hasMore) return undefined;
  const at = (number: number): string => `${path}${path.includes('?') ? '&' : '?'}page=${number}`;
  return markup`<nav class="actions" aria-label="Pages">
${page > 1 && markup`<a href="${at(page - 1)}" rel="prev">Newer</a>`}
<span class="quiet">Page ${page}</span>
${hasMore && markup`<a href="${at(page + 1)}" rel="next">Older</a>`}
</nav>`;
}

/** A page number from a query; 1 for anything that is none. */
export function pageNumber(text: unknown): number {
  return typeof text === 'string' && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1;
}

/** A secret at the only time when it can be read. */
export function secretOnce(about: string, secret: string): Html {
  return markup`<div class="secret" role="status"><p>${about} It is shown only now: copy it.</p><code>${secret}</code></div>`;
}
