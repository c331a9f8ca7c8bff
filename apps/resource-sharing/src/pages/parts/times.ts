import type { SiteAccount } from '../../site/site-account.entity.js';
import type { Visitor } from '../../wire/visitor.js';
import { Html, markup, type Content } from './markup.js';

/** A time on a page; `none` stands for null (default: "never"). */
export type TimeOf = (at: Date | null, none?: string) => Html;

/** Times for the reader of a page: in the service's time zone, or in the reader's own if scripts run. */
export function timesFor({ timeZone, words }: Pick<Visitor, 'timeZone' | 'words'>): TimeOf {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return (at, none = words.text('common.never')) =>
    at === null ? markup`${none}` : markup`<time datetime="${at.toISOString()}">${format.format(at)}</time>`;
}

const TWENTY_YEARS_MS = 20 * 365.25 * 86_400_000;

export function hasPremium({ premiumUntil }: Pick<SiteAccount, 'premiumUntil'>): boolean {
  return premiumUntil !== null && Number(premiumUntil) > Date.now();
}

/** How long Premium lasts. */
export function premiumText(visitor: Visitor, until: Date | number | null): Content {
  const { words } = visitor;
  const end = until === null ? 0 : Number(until);
  if (end <= Date.now()) return words.text('account.premiumNone');
  if (end - Date.now() > TWENTY_YEARS_MS) return words.text('account.premiumForever');
  return words.rich<Html, 'account.premiumUntil'>('account.premiumUntil', { date: timesFor(visitor)(new Date(end)) });
}
