import { Agent, request, type RequestOptions } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createSecureContext, getCACertificates } from 'node:tls';
import { OutboundGuard } from '@gatehouse/net';
import { AcmeProblem } from './acme-problem.js';

const TIMEOUT_MS = 30_000;
/** Chains and directories are a few KiB. */
const MAX_ANSWER_BYTES = 512 * 1024;

export interface AcmeAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface AcmeRequest {
  method: 'GET' | 'HEAD' | 'POST';
  url: string;
  /** JSON of a JWS. */
  body?: string;
  accept?: string;
  signal: AbortSignal;
}

/** Sends one request to an authority; only https, no redirects. @throws AcmeProblem `connection` */
export type AcmeTransport = (request: AcmeRequest) => Promise<AcmeAnswer>;

/**
 * URLs in an authority's answers must have public addresses; `directory`, which the operator chose, may have any.
 * `authorities`: PEM of additional trusted certificate authorities.
 */
export function createTransport(software: string, authorities: string | null, directory: string): AcmeTransport {
  const own = URL.parse(directory)?.hostname;
  const guard = new OutboundGuard();
  const agent = authorities === null ? false : agentTrusting(authorities);
  return async ({ method, url, body, accept, signal }) => {
    const target = httpsAddress(url);
    const headers: Record<string, string> = { 'user-agent': software, 'accept-language': 'en' };
    if (accept !== undefined) headers['accept'] = accept;
    if (body !== undefined) headers['content-type'] = 'application/jose+json';
    const lookup = target.hostname === own ? undefined : guard.lookup;
    const ends = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      if (lookup) guard.checkHost(target.hostname);
      return await exchange(target, { method, headers, signal: ends, agent, ...(lookup && { lookup }) }, body);
    } catch (error) {
      signal.throwIfAborted();
      throw new AcmeProblem({ type: 'connection', detail: `${target.host}: ${reason(error, ends)}`, cause: error });
    }
  };
}

/** Given as `ca`, the default authorities would be parsed again for each request: 30 ms. */
function agentTrusting(authorities: string): Agent {
  return new Agent({ secureContext: createSecureContext({ ca: [...getCACertificates('default'), authorities] }) });
}

function httpsAddress(url: string): URL {
  const target = URL.parse(url);
  if (target?.protocol === 'https:') return target;
  throw new AcmeProblem({ type: 'answer', detail: 'the authority named an address that is not https' });
}

function exchange(target: URL, options: RequestOptions, body: string | undefined): Promise<AcmeAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(target, options, (incoming) => {
      read(incoming).then(
        (text) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }),
        (error: unknown) => {
          outgoing.destroy();
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function read(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`its answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function reason(error: unknown, ends: AbortSignal): string {
  if (ends.aborted) return `no answer in ${TIMEOUT_MS / 1000} s`;
  if (!(error instanceof Error)) return String(error);
  // If several addresses were tried, the message is empty.
  return error.message || ((error as NodeJS.ErrnoException).code ?? error.name);
}
