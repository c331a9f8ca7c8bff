import type { Socket } from 'node:net';
import {
  ByteReader,
  encodeSocksReply,
  guardPromise,
  resetStream,
  setFlowTimeout,
  SOCKS5_VERSION,
  SOCKS_REPLY,
} from '@gatehouse/net';
import type { AdmissionRefusal } from '../../access/gate.js';
import type { TunnelConfig } from '../../config.js';
import type { AdmittedSocket } from '../admission.js';
import type { Entrance, ModeContext, ServerMode } from '../mode.js';
import { TcpEntrance } from '../tcp-entrance.js';
import { HttpProxy } from './http-proxy.js';
import { readSocksRequest } from './socks5.js';
import { SocksServer } from './socks-server.js';

/** From accept until the visitor has named its destination. */
const HANDSHAKE_MS = 15_000;
/** A greeting, a name and a password, an address: no honest handshake is longer. */
const MAX_HANDSHAKE_BYTES = 64 * 1024;

const TURN_AWAY_MS = 5_000;
/** Refused visitors that get an answer, at a time. */
const MAX_TURNED_AWAY = 256;

function closing(status: string, fields = ''): string {
  return `HTTP/1.1 ${status}\r\n${fields}Connection: close\r\nContent-Length: 0\r\n\r\n`;
}

/** Answers to refused HTTP visitors; a denied address gets no hint. Other refusals are resets. */
const REFUSALS: Partial<Record<AdmissionRefusal, string>> = {
  address_denied: closing('403 Forbidden'),
  too_many_connections: closing('429 Too Many Requests', 'Retry-After: 1\r\n'),
  client_disabled: closing('503 Service Unavailable', 'Retry-After: 5\r\nX-Gw-Error: client_disabled\r\n'),
  client_expired: closing('503 Service Unavailable', 'Retry-After: 5\r\nX-Gw-Error: client_expired\r\n'),
  quota_used_up: closing('503 Service Unavailable', 'Retry-After: 60\r\nX-Gw-Error: quota_used_up\r\n'),
};

/**
 * Modes `http_proxy`, `socks5` and `mix_proxy`, which accepts both on one port. Visitors name their destination, and
 * the agent connects to it if its own rules and the tunnel's destinations allow that.
 */
export class ProxyMode implements ServerMode {
  private readonly context: ModeContext;
  private readonly http: HttpProxy;
  private readonly socks: SocksServer;
  private turnedAway = 0;

  constructor(context: ModeContext) {
    this.context = context;
    this.http = new HttpProxy(context);
    this.socks = new SocksServer(context);
  }

  entrance(tunnel: () => TunnelConfig, port: number, onFailure: (error: Error) => void): Entrance {
    const place = { host: tunnel().listen.host, port };
    return new TcpEntrance(this.context.sockets, place, (socket) => this.accept(tunnel(), socket), onFailure);
  }

  private accept(tunnel: TunnelConfig, socket: Socket): void {
    this.context.admission.receive(tunnel, socket, {
      admitted: (visitor) => guardPromise(visitor.socket, this.serve(tunnel, visitor)),
      refused: (refused, reason) => guardPromise(refused, this.turnAway(tunnel, refused, reason)),
    });
  }

  private async serve({ mode }: TunnelConfig, visitor: AdmittedSocket): Promise<void> {
    const { socket } = visitor;
    const timer = setFlowTimeout(socket, () => resetStream(socket), HANDSHAKE_MS);
    const ready = (): void => clearTimeout(timer);
    socket.on('close', ready);
    const reader = new ByteReader(socket, MAX_HANDSHAKE_BYTES);
    try {
      const isSocks = (await reader.peek(1))[0] === SOCKS5_VERSION;
      if (isSocks && mode !== 'http_proxy') return await this.socks.serve(visitor, reader, ready);
      if (isSocks || mode === 'socks5') return resetStream(socket);
      reader.restore();
      ready();
      this.http.serve(visitor);
    } catch (error) {
      resetStream(socket);
      this.context.logger.debug('a visitor of a proxy was given up', { error: String(error) });
    }
  }

  /**
   * Refuses the visitor in its own protocol, which must be read first; beyond a number of them at a time, with a reset.
   */
  private async turnAway({ mode }: TunnelConfig, socket: Socket, reason: AdmissionRefusal): Promise<void> {
    const answer = REFUSALS[reason];
    if (answer === undefined || this.turnedAway >= MAX_TURNED_AWAY) return resetStream(socket);
    this.turnedAway += 1;
    const timer = setFlowTimeout(socket, () => resetStream(socket), TURN_AWAY_MS);
    try {
      const reader = new ByteReader(socket, MAX_HANDSHAKE_BYTES);
      const isSocks = (await reader.peek(1))[0] === SOCKS5_VERSION;
      if (isSocks !== (mode === 'socks5') && mode !== 'mix_proxy') return resetStream(socket);
      if (!isSocks) socket.end(answer);
      else if (await readSocksRequest(reader, socket, null)) socket.end(encodeSocksReply(SOCKS_REPLY.notAllowed));
      socket.destroySoon();
    } catch {
      resetStream(socket);
    } finally {
      clearTimeout(timer);
      this.turnedAway -= 1;
    }
  }
}
