import { passesTls } from '@gatehouse/tunnel-kernel';
import { parseHostTargets } from '../common/targets.js';
import type { Host, StoredRedirect } from '../data/host.entity.js';
import { fieldError, readField } from '../wire/field-error.js';
import { parseHostPattern } from '../wire/host-pattern.js';
import type { RedirectBody } from './redirect.dto.js';

/**
 * With its defaults, and its URL in normal form. `path` of the host's fields in a larger body, with its dot.
 *
 * @throws AppError VALIDATION_FAILED
 */
export function readRedirect<T extends null | undefined>(
  body: RedirectBody | T,
  host: Pick<Host, 'host' | 'location' | 'scheme' | 'targetAddr'>,
  path = '',
): StoredRedirect | T {
  if (body === null || body === undefined) return body as T;
  const field = `${path}redirect`;
  if (passesTls({ targets: readField(`${path}target_addr`, () => parseHostTargets(host.targetAddr)) })) {
    throw fieldError(field, 'must be null for a tls:// target');
  }
  const { status = 302, keep_path: keepPath = true } = body;
  const to = readField(`${field}.to`, () => parseDestination(body.to, keepPath));
  if (leadsBack(to, host)) throw fieldError(`${field}.to`, 'must not lead back to this host');
  return { to, status, keep_path: keepPath };
}

/** @throws RangeError */
function parseDestination(text: string, keepPath: boolean): string {
  if (!text.includes('/') && !text.includes(':')) {
    const name = parseHostPattern(text);
    if (!name.includes('*')) return name;
  }
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new RangeError('must be a URL such as https://example.org/path, or a name such as www.example.org');
  }
  if (keepPath && `${url.search}${url.hash}` !== '') {
    throw new RangeError('must have no query and no fragment where the path is kept');
  }
  return url.href;
}

/** Whether visitors that are sent there come to this host again: a certain loop, and not only a possible one. */
function leadsBack(to: string, { host, location, scheme }: Pick<Host, 'host' | 'location' | 'scheme'>): boolean {
  if (!to.includes('://')) return to === host && (location ?? '/') === '/';
  const url = new URL(to);
  const isServed = scheme === null || scheme === 'all' || `${scheme}:` === url.protocol;
  const below = `${location ?? '/'}/`.replace('//', '/');
  return url.hostname === host && url.port === '' && isServed && `${url.pathname}/`.startsWith(below);
}
