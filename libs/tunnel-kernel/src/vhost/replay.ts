import { Readable } from 'node:stream';
import { guarded, setFlowTimeout } from '@gatehouse/net';
import type { IncomingRequest } from './incoming-request.js';
import type { Reply, ReplyOwner } from './reply.js';

/** A recorded request that is sent again. */
export interface ReplayRequest {
  /** The id of the record. */
  id: string;
  method: string;
  scheme: 'http' | 'https';
  /** As the visitor wrote it. */
  authority: string;
  /** Path and query. */
  target: string;
  /** The address of the first visitor, who counts as the visitor again. */
  visitor: string;
  /** Name, value, name, value … */
  fields: readonly string[];
  /** Base64; null: none. */
  body: string | null;
}

/**
 * Why a request was not sent again: `unreadable` as a request; `unrecorded`: nothing would be seen of it, or the host is not
 * known here yet; `refused` by what limits the client or its visitors.
 */
export type ReplayRefusal = 'unreadable' | 'unrecorded' | 'refused';

/** Tells the target which request is repeated. */
const MARK = 'X-Gatehouse-Replay';
/** Fields of the first connection, which this request does not have. */
const OF_CONNECTION =
  /^(?:host|connection|keep-alive|proxy-connection|upgrade|http2-settings|te|trailer|transfer-encoding|content-length|expect|x-gatehouse-replay)$/i;
/** An answer may go on for ever. */
const LONGEST_MS = 60_000;

/** The request as a listener would pass it on, with nobody at its other end. */
export function incomingReplay(request: ReplayRequest): IncomingRequest {
  const { method, scheme, authority, target, visitor } = request;
  const body = request.body === null ? null : Buffer.from(request.body, 'base64');
  const fields = ['Host', authority];
  for (let at = 0; at + 1 < request.fields.length; at += 2) {
    const name = request.fields[at] ?? '';
    if (!OF_CONNECTION.test(name)) fields.push(name, request.fields[at + 1] ?? '');
  }
  fields.push(MARK, request.id);
  if (body) fields.push('Content-Length', String(body.length));
  const port = Number(/:(\d{1,5})$/.exec(authority)?.[1] ?? (scheme === 'https' ? 443 : 80));
  return {
    raw: { method, version: '1.1', target, authority: null, fields },
    arrival: {
      peer: { address: visitor, port: 0 },
      entrance: { address: '0.0.0.0', port },
      secure: scheme === 'https',
      trusted: false,
    },
    covers: () => true,
    body: body && body.length > 0 ? Readable.from([body]) : null,
    reply: new UnreadReply(),
    replayOf: request.id,
  };
}

/** An answer that nobody reads: what is seen of it is its record. */
class UnreadReply implements Reply {
  owner: ReplyOwner | null = null;
  private readonly limit = setFlowTimeout(null, () => this.abort(), LONGEST_MS).unref();
  private isGone = false;

  inform(): void {}

  begin(): void {}

  write(): boolean {
    return true;
  }

  end(): void {
    this.leave();
  }

  abort(): void {
    this.leave();
  }

  close(): void {}

  takeOver(): null {
    return null;
  }

  /** Later, as with a connection: its owner is not done yet. */
  private leave(): void {
    if (this.isGone) return;
    this.isGone = true;
    clearTimeout(this.limit);
    setImmediate(guarded(null, () => this.owner?.gone()));
  }
}
