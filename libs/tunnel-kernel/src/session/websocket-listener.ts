import type { Socket } from 'node:net';
import { ByteReader, setFlowTimeout } from '@gatehouse/net';
import { endpoint, farEnd } from '../base/endpoint.js';
import { MuxConnection } from '../mux/mux-connection.js';
import type { MuxStream } from '../mux/mux-stream.js';
import {
  AGENT_PATH,
  MAX_HANDSHAKE_BYTES,
  readRequestHead,
  refusalHead,
  upgradeAnswer,
  type FieldReader,
} from '../websocket/handshake.js';
import { WebSocketTransport } from '../websocket/websocket-transport.js';
import type { TrustedProxies } from '../access/trusted-proxies.js';
import { routeTagOf } from '../wire/route-tag.js';
import type { Arrival } from './arrival.js';

/** Longer than the time that a control connection has for its last message. */
const LAST_WORD_MS = 1500;
const HEAD_END = Buffer.from('\r\n\r\n');

export interface WebSocketListenerOptions {
  /** How long a WebSocket may be without a stream, in milliseconds. */
  emptyMs: number;
  /** Trusted to name the peer (`X-Forwarded-For`). */
  proxies: TrustedProxies;
  /** Whether this process serves the WebSocket with this tag. */
  serves(tag: string): boolean;
  /** A stream of a WebSocket takes the place of a connection to the port for agents. */
  onStream(stream: MuxStream, arrival: Arrival): void;
}

/** A request that was read. */
export interface WebSocketRequest {
  target: string;
  field: FieldReader;
}

/** Accepts WebSockets of agents, on the port for agents and on the ports for visitors of hosts. */
export class WebSocketListener {
  private readonly options: WebSocketListenerOptions;
  private readonly connections = new Set<MuxConnection>();

  constructor(options: WebSocketListenerOptions) {
    this.options = options;
  }

  /**
   * Serves the request on a connection of its own, from its first byte. @throws TunnelError, ByteReaderError: nothing
   * was answered.
   */
  async receive(stream: Socket): Promise<void> {
    const reader = new ByteReader(stream, MAX_HANDSHAKE_BYTES);
    const head = await reader.readThrough(HEAD_END);
    const { method, target, field } = readRequestHead(head.toString('latin1'));
    reader.restore();
    if (method !== 'GET' || target.split('?')[0] !== AGENT_PATH) return refuse(stream, refusalHead('404 Not Found'));
    this.upgrade({ target, field }, stream);
  }

  /** `stream` must be paused, with the bytes after the request put back. */
  upgrade({ target, field }: WebSocketRequest, stream: Socket): void {
    const tag = routeTagOf(target);
    // The tag was not visible outside TLS, or the connection would have reached another process.
    if (tag !== null && !this.options.serves(tag)) return refuse(stream, refusalHead('421 Misdirected Request'));
    const answer = upgradeAnswer(field);
    if (!answer.accepted) return refuse(stream, answer.head);
    stream.write(Buffer.from(answer.head, 'latin1'));
    const arrival = this.arrivalOf(field, stream);
    let timer: NodeJS.Timeout | undefined;
    const watch = (): void => {
      clearTimeout(timer);
      timer = setFlowTimeout(connection, () => connection.size === 0 && connection.destroy(), this.options.emptyMs);
    };
    const connection: MuxConnection = new MuxConnection(new WebSocketTransport(stream, false), {
      onStream: (one) => this.options.onStream(one, arrival),
      onEmpty: () => watch(),
      onClose: () => {
        clearTimeout(timer);
        this.connections.delete(connection);
      },
    });
    watch();
    if (!connection.isClosed) this.connections.add(connection);
    else clearTimeout(timer);
  }

  private arrivalOf(field: FieldReader, stream: Socket): Arrival {
    const { proxies } = this.options;
    const peer = farEnd(stream);
    const isBelieved = peer !== null && proxies.has(peer.address);
    const said = isBelieved ? proxies.visitorIn(field('x-forwarded-for') ?? '') : null;
    const from = said === null ? peer : endpoint(said);
    return { from, entrance: endpoint(stream.localAddress, stream.localPort), via: 'websocket' };
  }

  /** Closes the WebSockets; those that still carry something are closed a moment later. */
  close(): void {
    for (const connection of this.connections) connection.release();
    setFlowTimeout(
      null,
      () => {
        for (const connection of this.connections) connection.destroy();
      },
      LAST_WORD_MS,
    ).unref();
  }
}

function refuse(stream: Socket, head: string): void {
  stream.write(Buffer.from(head, 'latin1'));
  stream.resume();
  stream.end();
  setFlowTimeout(stream, () => stream.destroy(), 1000).unref();
}
