import { OutboundCallError, OutboundCalls, type OutboundAnswer } from '@gatehouse/net';
import { traceOutgoing } from '@gatehouse/platform';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { SERVICE_VERSION } from '../service-version.js';
import type { AddressList } from '../data/address-list.entity.js';

export const MAX_BYTES = 8 * 1024 * 1024;
/** Of each request, with its body. */
const TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 3;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** Validators are sent back, so long ones are not kept. */
const MAX_VALIDATOR = 512;

export type ListSource = Pick<AddressList, 'url' | 'allowPrivate' | 'etag' | 'lastModified'>;

export interface FetchedList {
  body: Buffer;
  etag: string | null;
  lastModified: string | null;
}

/** Why a list was not fetched, for its administrators. */
export class ListFetchError extends Error {
  override readonly name = 'ListFetchError';
}

/** Fetches lists. Every address is checked when connecting, also those of redirects. */
@Injectable()
export class ListFetcher implements OnApplicationShutdown {
  private readonly calls = new OutboundCalls({ timeoutMs: TIMEOUT_MS });

  onApplicationShutdown(): void {
    this.calls.close();
  }

  /** Null: it has not changed. @throws ListFetchError */
  async fetch({ url: first, allowPrivate, etag, lastModified }: ListSource): Promise<FetchedList | null> {
    const headers = {
      'user-agent': `gatehouse-tunnel-gateway/${SERVICE_VERSION}`,
      accept: 'text/plain, */*;q=0.1',
      'accept-encoding': 'identity',
      ...(etag !== null && { 'if-none-match': etag }),
      ...(lastModified !== null && { 'if-modified-since': lastModified }),
    };
    const { origin } = new URL(first);
    let url = first;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      // The permission is for the server that an administrator named, not for those to which it sends the gateway.
      const mayBePrivate = allowPrivate && new URL(url).origin === origin;
      const answer = await this.ask(url, headers, mayBePrivate);
      const location = REDIRECTS.includes(answer.status) ? answer.headers.location : undefined;
      if (location === undefined) return readAnswer(answer);
      url = URL.parse(location, url)?.href ?? '';
      if (url === '') throw new ListFetchError('the answer redirects to what is no address');
    }
    throw new ListFetchError(`it redirects more than ${MAX_REDIRECTS} times`);
  }

  private async ask(url: string, headers: Record<string, string>, allowPrivate: boolean): Promise<OutboundAnswer> {
    try {
      return await traceOutgoing('GET', url, async (answered) => {
        const answer = await this.calls.send({ url, method: 'GET', headers, allowPrivate, maxBytes: MAX_BYTES });
        answered(answer.status);
        return answer;
      });
    } catch (error) {
      if (error instanceof OutboundCallError) throw new ListFetchError(error.message, { cause: error });
      throw error;
    }
  }
}

function readAnswer({ status, headers, body }: OutboundAnswer): FetchedList | null {
  if (status === 304) return null;
  if (status !== 200) throw new ListFetchError(`the answer was ${status}`);
  if (body === null) throw new ListFetchError(`it has more than ${MAX_BYTES} bytes`);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new ListFetchError('the answer is compressed, which was not asked for');
  return { body, etag: validator(headers.etag), lastModified: validator(headers['last-modified']) };
}

function validator(value: string | undefined): string | null {
  return value !== undefined && value.length <= MAX_VALIDATOR && /^[\x20-\x7e]+$/.test(value) ? value : null;
}
