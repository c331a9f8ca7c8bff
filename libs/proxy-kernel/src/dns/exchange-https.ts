/** DNS over HTTPS (RFC 8484): HTTP/2 on one connection, HTTP/1.1 for servers without it. */
import { constants, type ClientHttp2Session } from 'node:http2';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { connectHttp2, connectTcp, connectTls, requestHttps } from '@gatehouse/net';
import type { Exchange } from './exchange.js';
import { DnsMessageError } from './message.js';

export interface HttpsServer {
  host: string;
  port: number;
  url: URL;
  /** Addresses of `host`. */
  addresses: (signal: AbortSignal) => Promise<readonly string[]>;
  /** The only trusted authority; absent: those of the system. */
  ca?: string | undefined;
}

const MAX_REPLY = 0xffff;
const IDLE_MS = 30_000;
const MEDIA_TYPE = 'application/dns-message';

export function exchangeHttps(server: HttpsServer): Exchange {
  let session: ClientHttp2Session | null = null;
  return async (query, accepts, signal) => {
    // RFC 8484 4.1: an id of 0 makes replies cacheable; the caller checks for it.
    if (session?.closed || session?.destroyed) session = null;
    const known = session;
    const reply = known ? await askHttp2(known, server.url, query, signal).catch(askAgain) : await askAfresh();
    if (!accepts(reply)) throw new DnsMessageError('not a reply to the question');
    return reply;

    /** A kept connection may have been closed without notice, so the question is asked once more. */
    function askAgain(error: unknown): Promise<Buffer> {
      if (session === known) session = null;
      known?.close();
      return signal.aborted ? Promise.reject(error as Error) : askAfresh();
    }

    async function askAfresh(): Promise<Buffer> {
      const socket = await openTls(server, signal);
      if (socket.alpnProtocol !== 'h2') return askHttp1(socket, server.url, query, signal);
      const opened = connectHttp2(server.url, { createConnection: () => socket });
      opened.on('error', () => opened.destroy());
      opened.setTimeout(IDLE_MS, () => opened.close());
      opened.unref();
      session = opened;
      return askHttp2(opened, server.url, query, signal);
    }
  };
}

async function openTls({ host, port, addresses, ca }: HttpsServer, signal: AbortSignal): Promise<TLSSocket> {
  const [address] = await addresses(signal);
  if (address === undefined) throw new DnsMessageError(`${host} has no address`);
  return new Promise((resolve, reject) => {
    const tcp = connectTcp({ host: address, port, noDelay: true });
    const socket = connectTls({
      socket: tcp,
      host,
      ALPNProtocols: ['h2', 'http/1.1'],
      ...(isIP(host) === 0 && { servername: host }),
      ...(ca !== undefined && { ca }),
    });
    const fail = (error: Error): void => {
      tcp.destroy();
      signal.removeEventListener('abort', onAbort);
      reject(error);
    };
    // The signal counts only until the connection is open, since it outlives its first question.
    const onAbort = (): void => fail(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    tcp.on('error', fail);
    socket.on('error', fail);
    socket.once('secureConnect', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(socket);
    });
    if (signal.aborted) onAbort();
  });
}

function askHttp2(session: ClientHttp2Session, url: URL, query: Buffer, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: `${url.pathname}${url.search}`,
      'content-type': MEDIA_TYPE,
      accept: MEDIA_TYPE,
    });
    const onAbort = (): void => void stream.destroy(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    const body = new ReplyBody();
    stream.on('response', (headers) => (body.problem = problemOf(headers[':status'], headers['content-type'])));
    stream.on('data', (chunk: Buffer) => body.add(chunk) || stream.destroy(new DnsMessageError(body.problem ?? '')));
    stream.on('error', reject);
    stream.on('close', () => {
      signal.removeEventListener('abort', onAbort);
      if (body.problem === null) resolve(body.bytes());
      else reject(new DnsMessageError(body.problem));
    });
    if (signal.aborted) onAbort();
    else stream.end(query);
  });
}

function askHttp1(socket: TLSSocket, url: URL, query: Buffer, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': MEDIA_TYPE, accept: MEDIA_TYPE, 'content-length': query.length };
    const options = { method: 'POST', headers, signal, createConnection: () => socket };
    const request = requestHttps(url, options, (response) => {
      const body = new ReplyBody();
      body.problem = problemOf(response.statusCode, response.headers['content-type']);
      response.on('data', (chunk: Buffer) => body.add(chunk) || response.destroy());
      response.on('error', reject);
      response.on('close', () => {
        socket.destroy();
        if (body.problem === null) resolve(body.bytes());
        else reject(new DnsMessageError(body.problem));
      });
    });
    request.on('error', reject);
    request.end(query);
  });
}

class ReplyBody {
  problem: string | null = 'the connection ended before the reply';
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** Returns false if the reply is too long. */
  add(chunk: Buffer): boolean {
    this.#length += chunk.length;
    if (this.#length > MAX_REPLY) this.problem = 'a reply that is too long';
    else this.#chunks.push(chunk);
    return this.#length <= MAX_REPLY;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

function problemOf(status: number | undefined, type: string | undefined): string | null {
  if (status !== 200) return `HTTP status ${status ?? 0}`;
  return type?.startsWith(MEDIA_TYPE) === true ? null : 'not a DNS reply';
}
