import { randomBytes } from 'node:crypto';
import { parse } from 'tldts';
import { parseHostPattern } from '../wire/host-pattern.js';

/** Leaves room for the label of a proof's record. */
const MAX_LENGTH = 230;
/** Names for this machine, this network or nothing at all (RFC 6761, 6762, 7686, 8375, 9476). */
const NOBODYS = ['localhost', 'local', 'invalid', 'onion', 'alt', 'arpa'];

/** A name without `*.`. */
export function withoutWildcard(host: string): string {
  return host.startsWith('*.') ? host.slice(2) : host;
}

/** Whether names below it are registered by different parties: `com`, `co.uk`, `github.io`. */
export function isPublicSuffix(name: string): boolean {
  const { publicSuffix, isIcann, isPrivate } = parse(name, { allowPrivateDomains: true });
  return publicSuffix === name && (isIcann === true || isPrivate === true);
}

/** Whether nobody can own the name, for example because it means this machine. */
export function isNobodys(name: string): boolean {
  return NOBODYS.some((reserved) => name === reserved || name.endsWith(`.${reserved}`));
}

/** A name that can belong to one user: below a public suffix, and not reserved. @throws RangeError */
export function parseDomain(text: string): string {
  const name = parseHostPattern(text);
  if (name.startsWith('*')) throw new RangeError('must be a name without *: it includes all names below it');
  if (name.length > MAX_LENGTH) throw new RangeError(`must have at most ${MAX_LENGTH} characters`);
  if (isNobodys(name)) throw new RangeError(`${name} can belong to nobody`);
  if (!name.includes('.') || isPublicSuffix(name)) {
    throw new RangeError(`${name} is a public suffix: names below it belong to different people`);
  }
  return name;
}

/** Whether public DNS can prove who owns it, unlike names of private networks (`nas.lan`). */
export function isPublicName(name: string): boolean {
  const { isIcann, isPrivate } = parse(name, { allowPrivateDomains: true });
  return isIcann === true || isPrivate === true;
}

/** The expected content of the TXT record. */
export function createChallenge(): string {
  return `gatehouse-verify=${randomBytes(24).toString('base64url')}`;
}
