import { Agent, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { ByteStreamDuplex, connectTls, requestHttp, type ByteStream } from '@gatehouse/net';
import { DialError } from '../interfaces/outbound.js';

/** A test server's answer. */
export interface ProbeAnswer {
  status: number;
  /** Whether the connection can carry another request after the body. */
  reusable: boolean;
  message: IncomingMessage;
}

/** A connection to a test server, over any stream, with HTTP/1.1. */
export class ProbeConnection {
  readonly #url: URL;
  readonly #stream: Duplex;
  readonly #agent: Agent;

  private constructor(url: URL, stream: Duplex) {
    this.#url = url;
    this.#stream = stream;
    this.#agent = new OneConnectionAgent(stream);
    // A request sees the error itself; an idle connection may fail without anyone knowing.
    stream.on('error', () => undefined);
  }

  /**
   * Takes over a stream and adds TLS if the URL needs it, with verification of the certificate.
   * @throws DialError stage `handshake`.
   */
  static async open(url: URL, stream: ByteStream, tls: SecureContext): Promise<ProbeConnection> {
    const plain = new ByteStreamDuplex(stream);
    return new ProbeConnection(url, url.protocol === 'https:' ? await secured(plain, hostOf(url), tls) : plain);
  }

  /** Resolves with the head of the answer; the body must be read or the connection destroyed. */
  request(method: 'HEAD' | 'GET'): Promise<ProbeAnswer> {
    const { host, pathname, search } = this.#url;
    const headers = { Host: host, 'User-Agent': 'Gatehouse', Accept: '*/*' };
    return new Promise((resolve, reject) => {
      const sent = requestHttp({ method, agent: this.#agent, path: pathname + search, headers, setHost: false });
      sent.on('error', reject);
      sent.on('response', (message) => {
        message.on('error', reject);
        resolve({ status: message.statusCode ?? 0, reusable: sent.shouldKeepAlive && isReusable(message), message });
      });
      sent.end();
    });
  }

  destroy(): void {
    this.#agent.destroy();
    this.#stream.destroy();
  }
}

/** Reads the whole body. @throws DialError if it is longer than `limit` bytes or breaks off. */
export function readBody(message: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    message.on('data', (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > limit) message.destroy(new DialError('relay', 'protocol_error', `more than ${limit} bytes`));
    });
    message.on('end', () => resolve(Buffer.concat(chunks)));
    message.on('error', reject);
    message.on('close', () => reject(new DialError('relay', 'connection_reset', 'the answer broke off')));
  });
}

/** The host of a URL, with IPv6 addresses without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

export function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}

function isReusable({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion !== '1.0' && headers.connection?.toLowerCase() !== 'close';
}

function secured(stream: Duplex, host: string, secureContext: SecureContext): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const name = isIP(host) ? {} : { servername: host };
    const secure = connectTls({ socket: stream, host, ...name, secureContext, ALPNProtocols: ['http/1.1'] });
    const fail = (error: Error): void => {
      stream.destroy();
      reject(new DialError('handshake', 'tls_error', `TLS with the test server: ${error.message}`, { cause: error }));
    };
    secure.once('error', fail);
    secure.once('close', () => fail(new Error('the connection was closed')));
    secure.once('secureConnect', () => resolve(secure));
  });
}

/** Runs requests one after the other on a single connection. */
class OneConnectionAgent extends Agent {
  readonly #stream: Duplex;

  constructor(stream: Duplex) {
    super({ keepAlive: true, maxSockets: 1 });
    this.#stream = stream;
  }

  override createConnection(): Duplex {
    return this.#stream;
  }
}
