import type { Socket } from 'node:net';
import { ByteReader, resetStream } from '@gatehouse/net';
import type { GateRefusal } from '../../access/gate.js';
import type { TunnelConfig } from '../../config.js';
import type { AdmittedSocket } from '../admission.js';
import type { Entrance, ModeContext, ServerMode } from '../mode.js';
import { TcpEntrance } from '../tcp-entrance.js';
import { HttpProxy, TOO_MANY_VISITORS } from './http-proxy.js';
import { SOCKS5_VERSION } from './socks5.js';
import { SocksServer } from './socks-server.js';

/** From accept until the visitor has said where it wants to go. */
const HANDSHAKE_MS = 15_000;
/** A greeting, a name and a password, an address; more is nobody's handshake. */
const MAX_HANDSHAKE_BYTES = 64 * 1024;

/**
 * Modes `http_proxy`, `socks5` and `mix_proxy`, which takes both on one port: visitors say where they want to go, and the
 * agent goes there, as far as it and the tunnel's destinations allow.
 */
export class ProxyMode implements ServerMode {
  private readonly context: ModeContext;
  private readonly http: HttpProxy;
  private readonly socks: SocksServer;

  constructor(context: ModeContext) {
    this.context = context;
    this.http = new HttpProxy(context);
    this.socks = new SocksServer(context);
  }

  entrance(tunnel: () => TunnelConfig, onFailure: (error: Error) => void): Entrance {
    return new TcpEntrance(tunnel().listen, (socket) => this.accept(tunnel(), socket), onFailure);
  }

  private accept(tunnel: TunnelConfig, socket: Socket): void {
    this.context.admission.receive(tunnel, socket, {
      admitted: (visitor) => void this.serve(tunnel, visitor),
      refused: (refused, reason) => turnAway(tunnel, refused, reason),
    });
  }

  private async serve({ mode }: TunnelConfig, visitor: AdmittedSocket): Promise<void> {
    const { socket } = visitor;
    const timer = setTimeout(() => resetStream(socket), HANDSHAKE_MS);
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
}

/** Nothing was read yet, so only HTTP can be answered; SOCKS has no word before the visitor's. */
function turnAway({ mode }: TunnelConfig, socket: Socket, reason: GateRefusal): void {
  if (mode !== 'http_proxy' || reason !== 'too_many_connections') return resetStream(socket);
  socket.end(TOO_MANY_VISITORS);
  socket.destroySoon();
}
