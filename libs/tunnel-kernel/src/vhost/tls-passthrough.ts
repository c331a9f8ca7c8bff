import type { Socket } from 'node:net';
import { guardPromise, resetStream, reuseMemory, type ByteStream } from '@gatehouse/net';
import type { HostConfig, HostTarget } from '../config.js';
import { TargetError, TunnelError } from '../errors.js';
import type { AdmittedSocket } from '../modes/admission.js';
import type { ModeContext } from '../modes/mode.js';
import { relayFlow } from '../relay-flow.js';
import { canonicalHostName } from './authority.js';
import { HostRouter } from './host-router.js';

/** Targets that are tried for one visitor. */
const MAX_TRIES = 3;

export interface TlsPassthroughOptions {
  context: Pick<ModeContext, 'admission' | 'channels' | 'ledger' | 'logger' | 'verifier'>;
  /** For an agent to reach a target, in milliseconds. */
  connectMs: number;
  /** Targets of a host that its checks found down, by index; null: there are none. */
  downOf(hostId: number): ReadonlySet<number> | null;
}

/** Whether visitors speak TLS with the targets of the host themselves. */
export function passesTls({ targets }: Pick<HostConfig, 'targets'>): boolean {
  return targets[0]?.scheme === 'tls';
}

/**
 * Connections to hosts whose targets have the certificate: the server name in the ClientHello chooses the host (RFC 6066 3),
 * and all bytes, beginning with the ClientHello, go to a target and back as they are.
 */
export class TlsPassthrough {
  private readonly options: TlsPassthroughOptions;
  /** Of all hosts, because a more specific name of another host wins. Null: no host passes TLS on. */
  private router: HostRouter | null = null;

  constructor(options: TlsPassthroughOptions) {
    this.options = options;
  }

  /** Applies to new connections. */
  apply(hosts: readonly HostConfig[]): void {
    this.router = hosts.some(passesTls) ? new HostRouter(hosts) : null;
  }

  /** The host for a server name, if it passes TLS on. */
  hostFor(serverName: string | null): HostConfig | null {
    if (this.router === null || serverName === null) return null;
    const name = canonicalHostName(serverName);
    const host = name === null ? null : this.router.match(name, '/', 'https');
    return host && passesTls(host) ? host : null;
  }

  /** Serves a paused connection of which nothing was taken. A visitor that cannot be served is reset. */
  accept(host: HostConfig, socket: Socket): void {
    // Each direction ends by itself, as TLS allows.
    socket.allowHalfOpen = true;
    this.options.context.admission.receiveAtHost(host, socket, {
      admitted: (visitor) => guardPromise(socket, this.serve(host, visitor)),
    });
  }

  private async serve(host: HostConfig, visitor: AdmittedSocket): Promise<void> {
    const { ledger, logger, verifier } = this.options.context;
    const { socket } = visitor;
    try {
      const { resource, clientId } = visitor;
      // There is no page on which a visitor could sign in: only its address can be known.
      if (!(await verifier.allows(resource, clientId, visitor.visitor))) {
        throw new TunnelError('unauthorized', 'the visitor is not verified');
      }
      const stream = await this.reach(host, visitor);
      if (socket.destroyed) return resetStream(stream);
      for (const end of [socket, stream]) reuseMemory(end);
      relayFlow(ledger, visitor, [socket, stream], { throttle: visitor.throttle() });
    } catch (error) {
      resetStream(socket);
      if (!(error instanceof TunnelError)) throw error;
      logger.debug('a visitor was refused', { host: host.id, code: error.code, reason: error.message });
    }
  }

  /** The next target is tried where one cannot be reached. @throws TunnelError */
  private async reach(host: HostConfig, { visitor, entrance }: AdmittedSocket): Promise<ByteStream> {
    const down = this.options.downOf(host.id);
    const left = host.targets.map((target, index) => ({ target, index })).filter(({ index }) => !down?.has(index));
    if (left.length === 0) throw new TunnelError('target', 'checks found every target down');
    for (let tries = 1; ; tries += 1) {
      const { index } = left.splice(drawByWeight(left.map(({ target }) => target)), 1)[0] ?? { index: 0 };
      const start = { kind: 'host', id: host.id, target: index, destination: '', visitor, entrance } as const;
      try {
        return await this.options.context.channels.reach(host.clientId, start, this.options.connectMs);
      } catch (error) {
        if (!(error instanceof TargetError) || left.length === 0 || tries === MAX_TRIES) throw error;
      }
    }
  }
}

function drawByWeight(targets: readonly HostTarget[]): number {
  let at = Math.random() * targets.reduce((sum, { weight }) => sum + weight, 0);
  for (const [index, { weight }] of targets.entries()) {
    at -= weight;
    if (at < 0) return index;
  }
  return 0;
}
