import { formatFullUrl } from '@gatehouse/share-links';
import type { ShareRow } from '../../shares/share-rows.js';
import type { Visitor } from '../../wire/visitor.js';
import { actionForm, copyButton } from '../parts/forms.js';
import { markup, type Content, type Html } from '../parts/markup.js';
import { storageName } from '../parts/share-words.js';
import { badge, card, facts } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import { titleName } from './titles.view.js';

interface ShareState {
  readonly row: ShareRow;
  /** The price for this member. */
  readonly price: number;
  readonly balance: number;
}

export function sharePage(visitor: Visitor, state: ShareState): Html {
  const { words } = visitor;
  const isOpen = state.row.is_own || state.row.has_unlocked;
  return markup`${card(words.text('share.link'), isOpen ? openedLink(visitor, state.row) : offer(visitor, state))}
${card(words.text('share.details'), details(visitor, state.row))}`;
}

export function shareHeading(visitor: Visitor, row: ShareRow): string {
  return row.title ?? titleOf(visitor, row);
}

function titleOf(visitor: Visitor, { media_type: mediaType, tmdb_id: tmdbId, media_title: name }: ShareRow): string {
  return titleName(visitor, { mediaType, tmdbId, name });
}

function details(visitor: Visitor, row: ShareRow): Html {
  const { words } = visitor;
  const title = markup`<a href="/titles/${row.media_type}/${row.tmdb_id}">${titleOf(visitor, row)}</a>`;
  const known: (readonly [string, Content] | false)[] = [
    [words.text('share.ofTitle'), title],
    [
      words.text('share.service'),
      [storageName(visitor, row.kind), row.is_official && [' ', badge('info', words.text('titles.official'))]],
    ],
    row.share_size !== null && [words.text('titles.size'), row.share_size],
    isNamed(row.video_resolution, row.source) && [
      words.text('titles.quality'),
      [...row.video_resolution, ...row.source].join(', '),
    ],
    isNamed(row.subtitle_language, row.subtitle_type) && [
      words.text('share.subtitles'),
      [...row.subtitle_language, ...row.subtitle_type].join(', '),
    ],
    row.remark !== null && [words.text('share.remark'), row.remark],
    [words.text('share.sharedBy'), row.is_anonymous ? words.text('share.anonymous') : row.nickname],
    [words.text('share.shared'), timesFor(visitor)(row.shared_at)],
    [words.text('titles.unlocks'), row.unlocked_users_count],
  ];
  return facts(known.filter((pair) => pair !== false));
}

function isNamed(...lists: readonly (readonly string[])[]): boolean {
  return lists.some((list) => list.length > 0);
}

function openedLink(visitor: Visitor, row: ShareRow): Html {
  const { words } = visitor;
  return markup`<p class="muted">${words.text(row.is_own ? 'share.own' : 'share.owned')}</p>
${linkParts(visitor, row)}`;
}

/** The link of a share that is unlocked, with its access code. */
export function linkParts(visitor: Visitor, { kind, url, access_code: accessCode }: ShareRow): Html {
  const { words } = visitor;
  const fullUrl = formatFullUrl({ kind, url, accessCode });
  return markup`<div class="shared-link"><code>${fullUrl}</code>
${isOpenable(fullUrl) && markup`<a class="button small" href="${fullUrl}" rel="noreferrer noopener" target="_blank">${words.text('share.open')}</a>`}
${copyButton(visitor, fullUrl)}</div>
${accessCode !== '' && markup`<p class="access-code">${words.text('share.accessCode')}: <code>${accessCode}</code> ${copyButton(visitor, accessCode)}</p>`}`;
}

/** Schemes that a browser passes to a page or to a download program. */
function isOpenable(url: string): boolean {
  return /^(?:https?|magnet|ed2k|thunder):/i.test(url);
}

function offer(visitor: Visitor, { row, price, balance }: ShareState): Html {
  const { words } = visitor;
  if (price > balance) {
    return markup`<p>${words.text('share.tooFew', { price, balance })}</p>
<p class="actions"><a class="button" href="/points">${words.text('share.earn')}</a></p>`;
  }
  const text =
    price > 0
      ? words.text('share.costs', { price, balance, left: balance - price })
      : words.text(row.price === 0 ? 'share.free' : 'share.freePremium');
  const label = price > 0 ? words.text('share.unlock', { price }) : words.text('share.unlockFree');
  return markup`<p>${text}</p>
<div class="actions">${actionForm(visitor, `/shares/${row.slug}/unlock`, label, { style: 'primary', size: 'normal' })}</div>`;
}
