import { decodeBase64Text } from '../text/base64.js';
import { decodePercent, encodePercent } from '../text/percent.js';

export interface Credentials {
  username?: string;
  password?: string;
}

/** `user:password` at the first `:`, or the base64 of it that v2rayN writes. An empty part counts as absent. */
export function readCredentials(userinfo: string | undefined): Credentials {
  if (userinfo === undefined || userinfo === '') return {};
  const colon = userinfo.indexOf(':');
  if (colon !== -1) return pair(decodePercent(userinfo.slice(0, colon)), decodePercent(userinfo.slice(colon + 1)));
  const decoded = decodePercent(userinfo);
  return splitCredentials(decodedPair(decoded) ?? decoded);
}

function decodedPair(text: string): string | undefined {
  const decoded = decodeBase64Text(text);
  // oxlint-disable-next-line no-control-regex -- a user name that happens to be base64 decodes to control characters
  return decoded !== undefined && /^[^\u0000-\u001f]*:[^\u0000-\u001f]*$/.test(decoded) ? decoded : undefined;
}

/** Cuts decoded `user:password` at the first `:`; a password may contain more of them. */
export function splitCredentials(text: string): Credentials {
  const colon = text.indexOf(':');
  return colon === -1 ? pair(text, '') : pair(text.slice(0, colon), text.slice(colon + 1));
}

function pair(username: string, password: string): Credentials {
  const credentials: Credentials = {};
  if (username !== '') credentials.username = username;
  if (password !== '') credentials.password = password;
  return credentials;
}

/** Always writes the colon, so that a user name alone is not read as base64. */
export function writeCredentials(credentials: Credentials): string | undefined {
  const { username = '', password = '' } = credentials;
  if (username === '' && password === '') return undefined;
  return `${encodePercent(username)}:${encodePercent(password)}`;
}
