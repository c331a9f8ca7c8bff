import { FormatError } from '../errors.js';
import { given } from '../stream/transport.js';
import { splitList } from '../text/split-list.js';
import type { LineOptions } from './line-options.js';

type Options = Record<string, unknown>;

/**
 * The Clash options for TLS of a line of Surge, Loon or Quantumult X; their names differ, and no name means two things.
 * @param on whether TLS has to be switched on; types that always have it take no switch.
 * @throws FormatError `unsupported_option` where the only check of the server is one that is not supported here.
 */
export function lineTls(
  options: LineOptions,
  serverName: 'sni' | 'servername',
  on: boolean,
  otherName?: string,
): Options {
  const sni = options.get('sni', 'tls-name', 'tls-host') ?? otherName;
  const unverified = options.isOn('skip-cert-verify') || options.isOff('tls-verification', 'certificate');
  if (unverified && options.get('tls-pubkey-sha256') !== undefined) {
    throw new FormatError('unsupported_option', 'a pinned public key is not supported, and nothing else is verified', {
      field: 'tls-pubkey-sha256',
    });
  }
  return {
    ...(on ? { tls: true } : {}),
    ...given(serverName, sni?.toLowerCase() === 'off' ? undefined : sni),
    ...given('alpn', splitList(options.get('alpn', 'tls-alpn'))),
    ...(unverified ? { 'skip-cert-verify': true } : {}),
    ...given('fingerprint', options.get('server-cert-fingerprint-sha256', 'tls-cert-sha256')),
    ...reality(options),
  };
}

function reality(options: LineOptions): Options {
  const publicKey = options.get('public-key', 'reality-base64-pubkey');
  if (publicKey === undefined) return {};
  const shortId = options.get('short-id', 'reality-hex-shortid');
  return { 'reality-opts': { 'public-key': publicKey, ...given('short-id', shortId) } };
}
