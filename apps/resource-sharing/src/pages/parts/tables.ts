import type { Visitor } from '../../wire/visitor.js';
import { copyButton } from './forms.js';
import { Html, markup, type Content } from './markup.js';

/** A table with a caption for screen readers, or a sentence if it is empty. */
export function dataTable(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Content[])[],
  none: string,
): Html {
  if (rows.length === 0) return markup`<p class="muted">${none}</p>`;
  const cellsOf = (cells: readonly Content[]): Html[] =>
    cells.map(
      (cell, index) =>
        markup`<td${index === 0 && new Html(' class="grow"')} data-label="${columns[index]}">${cell}</td>`,
    );
  return markup`<div class="table" role="group" aria-label="${caption}" tabindex="0"><table class="stacked">
<caption class="hidden">${caption}</caption>
<thead><tr>${columns.map((column) => (column === '' ? markup`<td></td>` : markup`<th scope="col">${column}</th>`))}</tr></thead>
<tbody>${rows.map((cells) => markup`<tr>${cellsOf(cells)}</tr>`)}</tbody>
</table></div>`;
}

/** Names and their values. */
export function facts(pairs: readonly (readonly [string, Content])[]): Html {
  const items = pairs.map(
    ([name, value]) => markup`<div><dt>${name}</dt><dd>${value === '' || value === null ? '–' : value}</dd></div>`,
  );
  return markup`<dl class="facts">${items}</dl>`;
}

/** Key figures. */
export function tiles(pairs: readonly (readonly [string, Content] | false)[]): Html {
  const items = pairs.map(
    (pair) => pair !== false && markup`<div class="tile"><dt>${pair[0]}</dt><dd>${pair[1]}</dd></div>`,
  );
  return markup`<dl class="tiles">${items}</dl>`;
}

/** A section with its own heading. */
export function card(title: string, content: Content): Html {
  return markup`<section class="card" aria-label="${title}">
<header class="card-head"><h2>${title}</h2></header>
${content}
</section>`;
}

export type BadgeTone = 'good' | 'fair' | 'bad' | 'info' | 'none';

export function badge(tone: BadgeTone, text: string): Html {
  return markup`<span class="badge ${tone}">${text}</span>`;
}

/** Links to the previous and next page; `path` already has all other parameters. */
export function pager({ words }: Visitor, path: string, page: number, hasMore: boolean): Content {
  if (page === 1 && !hasMore) return undefined;
  const at = (number: number): string => `${path}${path.includes('?') ? '&' : '?'}page=${number}`;
  return markup`<nav class="pager" aria-label="${words.text('common.pages')}">
<span>${words.text('common.page', { page })}</span>
${page > 1 && markup`<a class="button" href="${at(page - 1)}" rel="prev">${words.text('common.newer')}</a>`}
${hasMore && markup`<a class="button" href="${at(page + 1)}" rel="next">${words.text('common.older')}</a>`}
</nav>`;
}

/** A page number from a query; 1 if it is not valid. */
export function pageNumber(text: unknown): number {
  return typeof text === 'string' && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1;
}

/** A secret at the only moment when it can be read. */
function secretOnce(visitor: Visitor, what: string, secret: string): Html {
  const about = visitor.words.text('common.shownOnce', { what: `${what} ` });
  return markup`<div class="secret" role="status"><p>${about}</p><code>${secret}</code>${copyButton(visitor, secret)}</div>`;
}

/** The part of a page's state with a secret that is shown once; empty without one. */
export function shownOnce(visitor: Visitor, what: string, secret: string | undefined): { shown?: Html } {
  return secret === undefined ? {} : { shown: secretOnce(visitor, what, secret) };
}
