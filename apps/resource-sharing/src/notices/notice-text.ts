import type { Translator } from '@gatehouse/i18n';
import type { SiteMessages } from '../messages/index.js';
import { GRANT_SCOPES } from '../credentials/grant-scopes.js';
import type { Notice } from './notices.service.js';

/** A notice in words: plain text without secrets, for a page as for a mail. */
export interface NoticeText {
  readonly text: string;
  /** Page of the site that is about it. */
  readonly path: string;
  /** A user who did not do this should change the password. */
  readonly isSecurity: boolean;
  /** When what it says ends. */
  readonly until?: Date | undefined;
}

type Words = Translator<SiteMessages>;
type Told = Omit<NoticeText, 'isSecurity'>;
type TextOf = (notice: Notice, words: Words) => Told;

const ACCOUNT = '/account';
const FACTOR = '/account/second-factor';
const KEYS = '/keys';
const AUTHORIZED = '/authorized';

const applicationOf = ({ application, details }: Notice, words: Words): string =>
  application ?? (typeof details['name'] === 'string' ? details['name'] : words.text('notice.goneApplication'));
const keyOf = ({ credential }: Notice, words: Words): string => credential ?? words.text('notice.goneKey');
const shareOf = ({ share }: Notice, words: Words): string => share ?? words.text('notice.goneShare');
const pageOf = ({ clientId }: Notice): string => (clientId === null ? '/developer' : `/developer/${clientId}`);

/** Security events: a user who did not cause them has to act. */
const SECURITY: Readonly<Record<string, TextOf>> = {
  'user.new_sign_in_address': ({ ip }, words) => ({
    text: words.text('notice.newSignIn', { address: ip ?? '' }),
    path: ACCOUNT,
  }),
  'user.password_changed': (_, words) => ({ text: words.text('notice.passwordChanged'), path: ACCOUNT }),
  'user.second_factor_enabled': (_, words) => ({ text: words.text('notice.factorEnabled'), path: FACTOR }),
  'user.second_factor_disabled': (_, words) => ({ text: words.text('notice.factorDisabled'), path: FACTOR }),
  'user.second_factor_reset': (_, words) => ({ text: words.text('notice.factorReset'), path: FACTOR }),
  'user.recovery_codes_replaced': (_, words) => ({ text: words.text('notice.codesReplaced'), path: FACTOR }),
  'user.recovery_code_used': ({ details }, words) => ({
    text: words.text('notice.codeUsed', { left: Number(details['codes_left']) }),
    path: FACTOR,
  }),
  'user.profile_changed': (_, words) => ({ text: words.text('notice.emailChanged'), path: ACCOUNT }),
  'user.logged_out_everywhere': (_, words) => ({ text: words.text('notice.loggedOut'), path: ACCOUNT }),
  'key.created': (notice, words) => ({
    text: words.text('notice.keyCreated', { key: keyOf(notice, words) }),
    path: KEYS,
  }),
  'key.revoked': (notice, words) => ({
    text: words.text('notice.keyRevoked', { key: keyOf(notice, words) }),
    path: KEYS,
  }),
  'key.used_from_new_ip': (notice, words) => ({
    text: words.text('notice.keyUsed', { key: keyOf(notice, words), address: notice.ip ?? '' }),
    path: KEYS,
  }),
  'app.secret.created': (notice, words) => ({
    text: words.text('notice.secretCreated', { application: applicationOf(notice, words) }),
    path: pageOf(notice),
  }),
  'app.secret.revoked': (notice, words) => ({
    text: words.text('notice.secretRevoked', { application: applicationOf(notice, words) }),
    path: pageOf(notice),
  }),
  'grant.created': (notice, words) => ({
    text: words.text(Array.isArray(notice.details['former']) ? 'notice.grantChanged' : 'notice.grantCreated', {
      application: applicationOf(notice, words),
      scopes: scopesOf(notice, words),
    }),
    path: AUTHORIZED,
  }),
  'code.replayed': (notice, words) => ({
    text: words.text('notice.codeReplayed', { application: applicationOf(notice, words) }),
    path: AUTHORIZED,
  }),
  'refresh.reused': (notice, words) => ({
    text: words.text('notice.refreshReused', { application: applicationOf(notice, words) }),
    path: AUTHORIZED,
  }),
};

/** What an administrator or the service did. */
const NEWS: Readonly<Record<string, TextOf>> = {
  'grant.revoked': (notice, words) => ({
    text: words.text('notice.grantRevoked', {
      application: applicationOf(notice, words),
      reason: wordOf(notice.details['reason']),
    }),
    path: AUTHORIZED,
  }),
  'app.reviewed': (notice, words) => ({
    text: words.text('notice.appReviewed', {
      application: applicationOf(notice, words),
      status: wordOf(notice.details['status']),
    }),
    path: pageOf(notice),
  }),
  'app.disabled': (notice, words) => ({
    text: words.text('notice.appReviewed', {
      application: applicationOf(notice, words),
      status: wordOf(notice.details['status']),
    }),
    path: pageOf(notice),
  }),
  'app.proposal_accepted': (notice, words) => ({
    text: words.text('notice.proposalAccepted', { application: applicationOf(notice, words) }),
    path: pageOf(notice),
  }),
  'app.proposal_refused': (notice, words) => ({
    text: words.text('notice.proposalRefused', { application: applicationOf(notice, words) }),
    path: pageOf(notice),
  }),
  'points.granted': ({ details }, words) => ({ text: pointsText(details, words), path: '/points' }),
  'risk.tier_changed': ({ details }, words) => ({
    text: words.text('notice.riskPause'),
    path: '/unlocked',
    until: momentOf(details['until']),
  }),
  'risk.reset': (_, words) => ({ text: words.text('notice.riskReset'), path: '/unlocked' }),
  'share.deleted': (notice, words) => ({
    text: words.text('notice.shareDeleted', { share: shareOf(notice, words) }),
    path: '/shares',
  }),
  'share.official_changed': (notice, words) => ({
    text: words.text(notice.details['is_official'] === true ? 'notice.shareOfficial' : 'notice.shareNotOfficial', {
      share: shareOf(notice, words),
    }),
    path: '/shares',
  }),
  'share.unlock_digest': ({ details }, words) => ({
    text: words.text('notice.unlockDigest', {
      shares: Number(details['shares']),
      day: dayText(details['day'], words),
      points: Number(details['points']),
    }),
    path: '/shares',
  }),
  'user.enabled': (_, words) => ({ text: words.text('notice.enabled'), path: ACCOUNT }),
  'user.role_changed': ({ details }, words) => ({
    text: words.text('notice.roleChanged', { role: wordOf(details['role']) }),
    path: ACCOUNT,
  }),
  'user.permissions_changed': ({ details }, words) => ({
    text: words.text('notice.permissionsChanged', { permissions: listOf(details['permissions']) }),
    path: ACCOUNT,
  }),
  'user.premium_changed': ({ details }, words) => premiumText(details['premium_until'], words),
};

/** Every type of event that becomes a notice; data/sql/notices.sql has the same ones. */
export const NOTICE_TYPES: readonly string[] = [...Object.keys(SECURITY), ...Object.keys(NEWS)];

/** Whether it is worth a mail: a user who did not cause it has to act. */
export function isSecurityNotice(type: string): boolean {
  return Object.hasOwn(SECURITY, type);
}

export function noticeText(notice: Notice, words: Words): NoticeText {
  const isSecurity = isSecurityNotice(notice.type);
  const textOf = isSecurity ? SECURITY[notice.type] : Object.hasOwn(NEWS, notice.type) ? NEWS[notice.type] : undefined;
  // A newer version of the service knows more types, and shares the database while it is being rolled out.
  const told = textOf?.(notice, words) ?? { text: words.text('notice.other', { type: notice.type }), path: ACCOUNT };
  return { ...told, isSecurity };
}

function scopesOf({ details }: Notice, words: Words): string {
  const given = Array.isArray(details['scopes']) ? (details['scopes'] as unknown[]) : [];
  const names = GRANT_SCOPES.filter((scope) => given.includes(scope)).map((scope) => words.text(`scopes.${scope}`));
  return new Intl.ListFormat(words.language, { type: 'unit', style: 'short' }).format(names);
}

function pointsText({ points, note }: Notice['details'], words: Words): string {
  const amount = Number(points);
  const text = words.text(amount > 0 ? 'notice.pointsGiven' : 'notice.pointsTaken', { points: Math.abs(amount) });
  return typeof note === 'string' && note !== '' ? words.text('notice.withNote', { text, note }) : text;
}

function premiumText(until: unknown, words: Words): Told {
  if (until === null) return { text: words.text('notice.premiumEnded'), path: ACCOUNT };
  const end = momentOf(until);
  return end === undefined
    ? { text: words.text('notice.premiumForever'), path: ACCOUNT }
    : { text: words.text('notice.premiumGiven'), path: ACCOUNT, until: end };
}

/** For messages that choose by a word; they have a text for any other. */
function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : 'other';
}

function momentOf(text: unknown): Date | undefined {
  const at = typeof text === 'string' ? new Date(text) : undefined;
  return at === undefined || Number.isNaN(at.getTime()) ? undefined : at;
}

/** `2026-11-27` as a reader writes it. */
function dayText(day: unknown, { language }: Words): string {
  const at = momentOf(day);
  return at === undefined ? '' : new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(at);
}

function listOf(names: unknown): string {
  return Array.isArray(names) && names.length > 0 ? names.join(', ') : 'none';
}
