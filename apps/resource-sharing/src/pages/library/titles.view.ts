import type { ShareRow } from '../../shares/share-rows.js';
import type { FoundTitle } from '../../titles/title-search.js';
import type { MediaType, TitleKey } from '../../titles/titles.js';
import type { Visitor } from '../../wire/visitor.js';
import { searchForm } from '../parts/forms.js';
import { linkTo, markup, type Content, type Html } from '../parts/markup.js';
import { priceText, storageName } from '../parts/share-words.js';
import { badge, card, dataTable, pager } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';

interface TitlesState {
  readonly titles: readonly FoundTitle[];
  readonly search: string;
  readonly page: number;
  readonly hasMore: boolean;
}

interface TitleState {
  readonly mediaType: MediaType;
  readonly tmdbId: string;
  readonly shares: readonly ShareRow[];
  readonly page: number;
  readonly hasMore: boolean;
}

export function titlesPage(visitor: Visitor, { titles, search, page, hasMore }: TitlesState): Html {
  const { words } = visitor;
  const path = search === '' ? '/titles' : `/titles?search=${encodeURIComponent(search)}`;
  const list =
    titles.length === 0
      ? markup`<p class="muted">${
          search === ''
            ? words.rich<Content, 'titles.empty'>('titles.empty', { a: linkTo('/shares') })
            : words.text('titles.nothing', { search })
        }</p>`
      : titleTable(visitor, titles);
  return markup`${searchForm(visitor, '/titles', words.text('titles.search'), search)}
${card(words.text(search === '' ? 'titles.newest' : 'titles.results'), [list, pager(visitor, path, page, hasMore)])}`;
}

export function titleTable(visitor: Visitor, titles: readonly FoundTitle[]): Html {
  const { words } = visitor;
  const rows = titles.map((title) => [
    [
      markup`<a href="/titles/${title.mediaType}/${title.tmdbId}">${titleName(visitor, title)}</a>`,
      markup`<span class="second">${words.text(`shares.${title.mediaType}`)} ${title.tmdbId}</span>`,
    ],
    title.shares,
    priceText(visitor, title.lowestPrice),
  ]);
  const columns = [words.text('common.title'), words.text('titles.shares'), words.text('titles.lowestPrice')];
  return dataTable(words.text('titles.caption'), columns, rows, '');
}

export function titlePage(visitor: Visitor, { mediaType, tmdbId, shares, page, hasMore }: TitleState): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = shares.map((row) => [
    [
      markup`<a href="/shares/${row.slug}">${row.title ?? row.media_title ?? row.slug}</a> `,
      row.is_official && badge('info', words.text('titles.official')),
      row.remark !== null && markup`<span class="second">${row.remark}</span>`,
    ],
    storageName(visitor, row.kind),
    [...row.video_resolution, ...row.source].join(', '),
    row.share_size,
    priceOf(visitor, row),
    row.unlocked_users_count,
    time(row.shared_at),
  ]);
  const columns = [
    words.text('common.name'),
    words.text('share.service'),
    words.text('titles.quality'),
    words.text('titles.size'),
    words.text('titles.price'),
    words.text('titles.unlocks'),
    words.text('share.shared'),
  ];
  const outside = `https://www.themoviedb.org/${mediaType}/${tmdbId}`;
  return markup`<p class="muted">${words.text(`shares.${mediaType}`)} ${tmdbId} &middot; <a href="${outside}" rel="noreferrer noopener">${words.text('titles.database')}</a></p>
${card(words.text('titles.sharesOf'), [
  dataTable(words.text('titles.sharesOf'), columns, rows, words.text('titles.none')),
  pager(visitor, `/titles/${mediaType}/${tmdbId}`, page, hasMore),
])}`;
}

/** The name of a title, or its TMDB id if it has none. */
export function titleName({ words }: Visitor, { mediaType, tmdbId, name }: TitleKey & { name: string | null }): string {
  return name ?? words.text('titles.unnamed', { type: words.text(`shares.${mediaType}`), number: tmdbId });
}

function priceOf(visitor: Visitor, row: ShareRow): Content {
  const { words } = visitor;
  if (row.is_own) return badge('info', words.text('titles.yours'));
  if (row.has_unlocked) return badge('good', words.text('titles.unlocked'));
  return priceText(visitor, row.price);
}
