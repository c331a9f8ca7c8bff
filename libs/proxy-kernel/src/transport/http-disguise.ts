/** A TCP stream that begins like an HTTP/1.1 exchange (the `http` header of V2Ray's tcp transport). */
import { randomInt } from 'node:crypto';
import type { NodeTransport } from '@gatehouse/contracts';
import { formatAuthority, type ByteStream } from '@gatehouse/net';
import { DialError } from '../interfaces/index.js';
import { requestTarget } from './http-upgrade.js';
import type { NodeServer } from './node-server.js';
import { PrologueStream } from './prologue-stream.js';

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** The request is sent with the first bytes; the answer before the server's first bytes is skipped. */
export function disguise(
  stream: ByteStream,
  node: NodeServer,
  transport: Extract<NodeTransport, { type: 'http' }>,
): ByteStream {
  return new PrologueStream(stream, requestHead(node, transport), answerLength);
}

function requestHead(
  { server, port, tls }: NodeServer,
  { method = 'GET', path = [], headers = {} }: Extract<NodeTransport, { type: 'http' }>,
): Buffer {
  const fields = new Map([['host', `Host: ${formatAuthority(server, port, tls !== undefined)}`]]);
  fields.set('user-agent', 'User-Agent: Mozilla/5.0');
  fields.set('connection', 'Connection: keep-alive');
  for (const [name, values] of Object.entries(headers)) {
    const value = oneOf(values);
    if (value === undefined || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) || /[\r\n\0]/.test(value)) continue;
    fields.set(name.toLowerCase(), `${name}: ${value}`);
  }
  const verb = /^[A-Z]{1,16}$/.test(method) ? method : 'GET';
  const lines = [`${verb} ${requestTarget(oneOf(path) ?? '/')} HTTP/1.1`, ...fields.values(), '', ''];
  return Buffer.from(lines.join('\r\n'));
}

/** V2Ray chooses at random, too. */
function oneOf(values: readonly string[]): string | undefined {
  return values.length > 0 ? values[randomInt(values.length)] : undefined;
}

/** The length of the head of an HTTP answer; 0: it is not complete. @throws DialError for anything else. */
export function answerLength(bytes: Buffer): number {
  const start = bytes.toString('latin1', 0, 5);
  if (!'HTTP/'.startsWith(start)) {
    throw new DialError('handshake', 'protocol_error', 'the server did not answer with HTTP');
  }
  const end = bytes.indexOf(END_OF_HEAD);
  return end < 0 ? 0 : end + END_OF_HEAD.length;
}
