import { createHash } from 'node:crypto';
import {
  PLAIN_PARAMETER,
  carriesCode,
  chooseCode,
  codeInProse,
  decodeText,
  explicitCode,
  labelledCode,
  queryCode,
} from './access-code.js';
import { cleanText, findCandidates, type Candidate } from './extract.js';
import { formatFullUrl, splitAt } from './full-url.js';
import { driveOf, type DriveKind, type FoundShare } from './kinds/drives.js';
import { readEd2k, readMagnet, type ContentLink } from './kinds/peer-to-peer.js';
import { MAX_TEXT_BYTES, ShareLinkError, type ShareLink, type ShareLinkKind } from './share-link.js';

export interface ParseOptions {
  /** What the caller says beside the link; it goes before everything the link says. */
  readonly accessCode?: string | null;
}

/**
 * Reads the link in a text as people paste it: the first of a known kind, else the first address.
 * @throws ShareLinkError
 */
export function parseShareLink(text: string, options: ParseOptions = {}): ShareLink {
  const explicit = explicitCode(options.accessCode);
  const readings = readText(text);
  const reading = readings.find(({ kind }) => kind !== 'others') ?? readings[0];
  if (reading === undefined) throw new ShareLinkError('not_a_link');
  return toLink(reading, explicit);
}

/** Every link of a text, in order; empty when there is none. @throws ShareLinkError `too_long` */
export function parseShareLinks(text: string): ShareLink[] {
  return readText(text).map((reading) => toLink(reading, undefined));
}

/** A link before the choice between the access codes that were found. */
interface Reading {
  readonly kind: ShareLinkKind;
  readonly id: string | null;
  readonly key: string;
  readonly url: string;
  /** In order of precedence. */
  readonly codes: readonly (string | undefined)[];
}

function readText(text: string): Reading[] {
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) throw new ShareLinkError('too_long');
  const clean = cleanText(text);
  const candidates = findCandidates(clean);
  const readings = candidates.map(readCandidate).filter((reading) => reading !== undefined);
  if (candidates.length > 0) return readings;
  const bare = readBare115(clean);
  return bare === undefined ? [] : [bare];
}

function toLink({ codes, ...reading }: Reading, explicit: string | undefined): ShareLink {
  const hasCodes = reading.kind !== 'magnet' && reading.kind !== 'ed2k';
  const choice = chooseCode(hasCodes ? [explicit, ...codes] : []);
  const fullUrl = formatFullUrl({ ...reading, accessCode: choice.accessCode });
  return { ...reading, ...choice, supported: reading.kind !== 'others', fullUrl };
}

function readCandidate(candidate: Candidate): Reading | undefined {
  if (/^magnet:/i.test(candidate.text)) return fromContent(readMagnet(candidate.text));
  if (/^ed2k:/i.test(candidate.text)) return fromContent(readEd2k(candidate.text));
  return settle(readAddress(candidate));
}

/**
 * What is taken out of an unknown address (a code, empty parameters, marks at the end) may bare more of the same, so it
 * is read until it stays as it is: one share must not have two keys.
 */
function settle(reading: Reading | undefined): Reading | undefined {
  let settled = reading;
  for (let round = 0; settled?.kind === 'others' && round < MAX_ROUNDS; round++) {
    const [candidate] = findCandidates(cleanText(settled.url));
    const again = candidate === undefined ? undefined : readAddress(candidate);
    if (again?.key === settled.key) return settled;
    settled = again === undefined ? undefined : { ...again, codes: [...settled.codes, ...again.codes] };
  }
  return settled;
}

/** More than any address that is not made to be awkward needs. */
const MAX_ROUNDS = 8;

function fromContent(link: ContentLink | undefined): Reading | undefined {
  return link === undefined ? undefined : { ...link, key: `${link.kind}:${link.id}`, codes: [] };
}

/** What an address may be made of; words in other scripts are glued to it. */
const PLAIN = /^[^\s<>"`{}\\^\u0080-\u{10ffff}]+/u;

function readAddress({ text, before }: Candidate): Reading | undefined {
  const written = PLAIN.exec(text)?.[0] ?? '';
  const address = URL.parse(written);
  const drive = address === null || hasOddPort(address) ? undefined : driveOf(address.hostname);
  const found = address === null ? undefined : drive?.find(canonicalHost(address));
  const around = { after: text.slice(written.length), before };
  if (address === null || drive === undefined || found === undefined) return readOther(text, before);
  return {
    kind: drive.kind,
    id: found.id,
    key: `${drive.kind}:${found.id}`,
    url: found.url,
    codes: codesOf(address, drive, found, around),
  };
}

const hasOddPort = ({ port }: URL): boolean => !['', '80', '443'].includes(port);

/** `115.com.` is 115.com. */
function canonicalHost(address: URL): URL {
  const plain = new URL(address);
  plain.hostname = plain.hostname.replace(/\.$/, '');
  return plain;
}

interface Surroundings {
  readonly after: string;
  readonly before: string;
}

/** URL query, fragment, glued text, text near by. */
function codesOf(address: URL, drive: DriveKind, { rest }: FoundShare, around: Surroundings): (string | undefined)[] {
  const [gluedAfter = ''] = around.after.split(/\s/u, 1);
  return [
    queryCode(address.search.slice(1)),
    drive.codeFragment?.exec(address.hash)?.[1] ?? queryCode(splitAt(address.hash, '?')[1].slice(1)),
    labelledCode([rest, decodeText(address.search), decodeText(address.hash)].join('\n')) ?? labelledCode(gluedAfter),
    codeInProse(around.after) ?? codeInProse(around.before),
  ];
}

/** An unknown site keeps its whole address, words in other scripts included; only `pwd` is taken out of it. */
function readOther(text: string, before: string): Reading | undefined {
  const written = (/^[^\s<>"`{}\\^，。；、！？【】「」《》]+/u.exec(text)?.[0] ?? '')
    .replace(LABEL_ON, '')
    .replace(/[.,;:!?'")\]]+$/u, '');
  const address = URL.parse(written);
  if (address === null || address.hostname === '') return undefined;
  address.username = '';
  address.password = '';
  const code = queryCode(address.search.slice(1), PLAIN_PARAMETER);
  const url = withoutCode(address);
  const codes = [code, codeInProse(text.slice(written.length)) ?? codeInProse(before)];
  return { kind: 'others', id: null, key: `others:${shortened(url)}`, url, codes };
}

const LABEL_ON = /(?:提取码|提取碼|访问码|訪問碼|密码|密碼).*$/su;

function withoutCode(address: URL): string {
  const kept = address.search.slice(1).split('&');
  const others = kept.filter((parameter) => parameter !== '' && !carriesCode(parameter, PLAIN_PARAMETER));
  // The mark is written out, for the setter would take a question mark of the query itself for it.
  address.search = others.length === 0 ? '' : `?${others.join('&')}`;
  return address.href;
}

/** Keys stay short enough for an index. */
function shortened(url: string): string {
  return url.length <= 512 ? url : `sha256:${createHash('sha256').update(url).digest('hex')}`;
}

/** `{id}-{code}`, as the 115 programs copy it; only alone, and only where the id looks like one. */
function readBare115(text: string): Reading | undefined {
  const [, id, code] = /^[/#]?((?=[a-z]*\d|sw)[a-z0-9]{6,20})-([a-z0-9]{4})[/#]?$/i.exec(text) ?? [];
  if (id === undefined) return undefined;
  const folded = id.toLowerCase();
  return { kind: '115', id: folded, key: `115:${folded}`, url: `https://115.com/s/${folded}`, codes: [code] };
}
