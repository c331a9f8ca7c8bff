/** The opening handshake of a WebSocket (RFC 6455 4), with early data in it if the server accepts that. */
import { randomBytes } from 'node:crypto';
import { webSocketAccept } from '@gatehouse/net';
import { DialError } from '../../interfaces/index.js';
import { checkSwitched, formatRequest, type HeaderFields, type UpgradeAnswer } from '../http-upgrade.js';

export interface WebSocketRequest {
  path: string;
  host: string;
  headers?: HeaderFields | undefined;
  /** The most bytes that may be sent with the handshake. 0: none. */
  maxEarlyData: number;
  /** Header field for them, as base64url. Absent: they are appended to the path. */
  earlyDataHeader?: string | undefined;
}

/** One handshake: formats the request and checks the answer. */
export class WebSocketOpening {
  private readonly request: WebSocketRequest;
  private readonly key = randomBytes(16).toString('base64');

  constructor(request: WebSocketRequest) {
    this.request = request;
  }

  /** Returns the request with as much of `first` as is allowed, and the rest of `first`. */
  format(first: Uint8Array = Buffer.alloc(0)): { head: Buffer; rest: Uint8Array } {
    const { path, host, headers = {}, maxEarlyData, earlyDataHeader } = this.request;
    const early = Buffer.from(first.subarray(0, maxEarlyData)).toString('base64url');
    const inHeader = earlyDataHeader !== undefined && early !== '' ? { [earlyDataHeader]: early } : {};
    const inPath = earlyDataHeader === undefined ? early : '';
    const handshake = {
      Upgrade: 'websocket',
      Connection: 'Upgrade',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': this.key,
    };
    const head = formatRequest(path + inPath, host, headers, handshake, inHeader);
    return { head, rest: first.subarray(Math.min(first.length, maxEarlyData)) };
  }

  /** @throws DialError when the server did not accept the WebSocket. */
  check(answer: UpgradeAnswer): void {
    checkSwitched(answer, 'websocket');
    if (answer.headers.get('sec-websocket-accept') !== webSocketAccept(this.key)) {
      throw new DialError('handshake', 'protocol_error', 'the server answered another handshake than ours');
    }
    if (answer.headers.get('sec-websocket-extensions')) {
      throw new DialError('handshake', 'protocol_error', 'the server uses an extension that was not asked for');
    }
  }
}
