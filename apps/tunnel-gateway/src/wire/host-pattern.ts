import { domainToASCII } from 'node:url';
import { parseIp } from '@gatehouse/net';

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/**
 * A host name in the data plane's form: A-labels in lower case without a trailing dot. `*` matches every name, `*.name`
 * every name below. @throws RangeError
 */
export function parseHostPattern(text: string): string {
  const plain = text.trim().replace(/(?<=[^*])\.$/, '');
  if (plain === '*') return plain;
  const wildcard = plain.startsWith('*.');
  const name = wildcard ? plain.slice(2) : plain;
  if (parseIp(name) !== null || name.includes(':')) throw new RangeError('must be a name without a port');
  // These characters would end the host in a URL and be cut off. An empty result means that the name cannot be encoded.
  const ascii = /[/?#@\\]/.test(name) ? '' : domainToASCII(name.toLowerCase());
  const labels = ascii.split('.');
  const fits = ascii !== '' && ascii.length <= 253 && labels.every((label) => LABEL.test(label));
  if (!fits || /^\d+$/.test(labels.at(-1) ?? '')) {
    throw new RangeError('must be a domain name such as app.example.org, *.example.org or *');
  }
  return wildcard ? `*.${ascii}` : ascii;
}

/** Whether a host of `host`, a name, `*.name` or `*`, matches `name`. Both in the form of `parseHostPattern`. */
export function covers(host: string, name: string): boolean {
  return host === '*' || host === name || (host.startsWith('*.') && name.endsWith(host.slice(1)));
}

/**
 * A path on segment boundaries: `/`, or `/a/b` without a trailing slash. Only characters with another meaning are
 * escaped, so parsing it again changes nothing. @throws RangeError
 */
export function parseLocation(text: string): string {
  const wrong = new RangeError('must be a path such as / or /api, without .. and encoded slashes');
  if (!text.startsWith('/') || /[\p{Cc} ?#\\]/u.test(text) || /%(2f|5c|00)/i.test(text)) throw wrong;
  let plain: string;
  try {
    plain = decodeURIComponent(text);
  } catch (error) {
    throw new RangeError('has an invalid percent escape', { cause: error });
  }
  const segments = plain.split('/').filter((segment) => segment !== '');
  if (segments.some((segment) => segment === '.' || segment === '..') || /\p{Cc}/u.test(plain)) throw wrong;
  return `/${segments.join('/').replaceAll(/[%?# ]/g, encodeURIComponent)}`;
}

/** A path for targets: like a location, in the form in which it is sent. @throws RangeError */
export function parseTargetPath(text: string): string {
  return parseLocation(text).replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);
}
