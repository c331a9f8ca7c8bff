import type { HttpNode } from '@gatehouse/contracts';
import { formatHostPort, type ByteReader, type ByteStream } from '@gatehouse/net';
import { DialError, type DialContext, type ErrorKind, type Outbound, type Target } from '../../interfaces/index.js';
import { dialNodeServer, shakeHands } from '../../transport/node-server.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import { formatBasic } from './codec.js';

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** An HTTP proxy, used with CONNECT (RFC 9110 9.3.6) and reached with or without TLS. */
export class HttpOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'http';
  readonly udp = false;
  private readonly node: HttpNode;
  private readonly dialer: ServerDialer;
  private readonly fixedHeaders: string;

  constructor(tag: string, node: HttpNode, dialer: ServerDialer) {
    this.tag = tag;
    this.node = node;
    this.dialer = dialer;
    this.fixedHeaders = headerLines(node);
  }

  async connect(target: Target, context: DialContext): Promise<ByteStream> {
    const stream = await dialNodeServer(this.node, this.dialer, context);
    const authority = formatHostPort(target.host, target.port);
    await shakeHands(stream, context.signal, (reader) => {
      const head = `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${this.fixedHeaders}\r\n`;
      stream.write(Buffer.from(head));
      return readAnswer(reader);
    });
    return stream;
  }
}

async function readAnswer(reader: ByteReader): Promise<void> {
  for (;;) {
    const head = (await reader.readThrough(END_OF_HEAD)).toString('latin1');
    const status = Number(/^HTTP\/1\.[01] (\d{3})[ \r]/.exec(head)?.[1] ?? 0);
    if (status >= 200 && status < 300) return;
    // 1xx answers come before the final one.
    if (status < 100 || status >= 200) throw refusal(status);
  }
}

function refusal(status: number): DialError {
  const kinds: Record<number, ErrorKind> = {
    0: 'protocol_error',
    401: 'auth_failed',
    407: 'auth_failed',
    502: 'unreachable',
    503: 'unreachable',
    504: 'timeout',
  };
  const message = status === 0 ? 'the proxy did not answer with HTTP' : `the proxy answered ${status}`;
  return new DialError('handshake', kinds[status] ?? 'other', message);
}

function headerLines({ username, password, headers = {} }: HttpNode): string {
  const lines = Object.entries(headers).filter(([name, value]) => isHeader(name, value));
  if (username !== undefined) lines.push(['Proxy-Authorization', formatBasic(username, password ?? '')]);
  return lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
}

/** A node may come from a subscription, so a line break in a value must not add a header. */
function isHeader(name: string, value: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) && !/[\r\n]/.test(value);
}
