import { createHash } from 'node:crypto';

/** RFC 6455 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** What a server answers in `Sec-WebSocket-Accept` to a client's `Sec-WebSocket-Key` (RFC 6455 4.2.2). */
export function webSocketAccept(key: string): string {
  return createHash('sha1')
    .update(key + GUID)
    .digest('base64');
}

/** Whether a head switches to `protocol`, in lower case: `Upgrade` says it, and `Connection` names `Upgrade` (RFC 9110 7.8). */
export function switchesTo(protocol: string, field: (name: string) => string | undefined): boolean {
  return field('upgrade')?.toLowerCase() === protocol && hasToken(field('connection'), 'upgrade');
}

/** Whether a list in a header field has `token`, which is in lower case. */
export function hasToken(list: string | undefined, token: string): boolean {
  return (list ?? '').split(',').some((item) => item.trim().toLowerCase() === token);
}
