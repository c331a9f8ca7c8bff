import { createHash } from 'node:crypto';
import type { HostConfig, HostTarget } from '../config.js';
import { withholdCookies, type RequestFields } from './request-fields.js';

/** The cookie that leads a visitor back to the target it had. Each host has its own: those of one name share cookies. */
export function stickyCookieName({ id }: HostConfig): string {
  return `gw_target_${id}`;
}

/** What the cookie contains: it says nothing about the target, and is the same in every edge and after a restart. */
export function targetTag({ id }: HostConfig, { scheme, host, port }: HostTarget): string {
  return createHash('sha256')
    .update(JSON.stringify([id, scheme, host, port]))
    .digest('base64url')
    .slice(0, 16);
}

/** Takes the cookie out of a request: targets do not see it. Null: there is none. */
export function takeStickyCookie(fields: RequestFields, host: HostConfig): string | null {
  const name = stickyCookieName(host);
  const { kept } = fields;
  for (let at = 0; at + 1 < kept.length; at += 2) {
    if (kept[at]?.toLowerCase() !== 'cookie') continue;
    const pairs = (kept[at + 1] ?? '').split(';').map((pair) => pair.trim());
    const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
    withholdCookies(fields, [name]);
    return value ?? null;
  }
  return null;
}

/** `Set-Cookie` for a visitor of this target; it lasts until the browser is closed. */
export function stickyCookie(host: HostConfig, tag: string, isSecure: boolean): [string, string] {
  return [
    'set-cookie',
    `${stickyCookieName(host)}=${tag}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
  ];
}
