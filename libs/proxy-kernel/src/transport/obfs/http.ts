import { randomBytes } from 'node:crypto';
import { formatAuthority, type ByteStream } from '@gatehouse/net';
import { answerLength } from '../http-disguise.js';
import { formatRequest } from '../http-upgrade.js';
import { PrologueStream } from '../prologue-stream.js';

export interface HttpObfs {
  host: string;
  port: number;
  path: string;
}

/** simple-obfs, mode http: our first bytes follow an upgrade request, the server's first bytes the answer to it. */
export function obfuscateAsHttp(stream: ByteStream, { host, port, path }: HttpObfs): ByteStream {
  const head = (first: Uint8Array): Buffer =>
    formatRequest(path, formatAuthority(host, port, false), {
      'User-Agent': 'curl/8.5.0',
      Upgrade: 'websocket',
      Connection: 'Upgrade',
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
      'Content-Length': String(first.length),
    });
  return new PrologueStream(stream, head, answerLength);
}
