import type { OtherNode, NodeTls } from '@gatehouse/contracts';
import { encodeSocksAddress, type ByteStream } from '@gatehouse/net';
import {
  DialError,
  type DialContext,
  type Outbound,
  type PacketConnection,
  type Target,
} from '../../interfaces/index.js';
import { PrologueStream } from '../../transport/prologue-stream.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import { UdpOverTcpPackets, udpOverTcpRequest, udpOverTcpTarget } from '../udp-over-tcp/packets.js';
import { AnyTlsSessionPool, type PoolOptions } from './session-pool.js';
import { AnyTlsStream } from './stream.js';

/** An AnyTLS server: TCP, and UDP inside a stream (UDP over TCP, version 2). */
export class AnyTlsOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'anytls';
  readonly udp: boolean;
  private readonly pool: AnyTlsSessionPool;

  constructor(tag: string, node: OtherNode, dialer: ServerDialer) {
    this.tag = tag;
    this.udp = node.udp ?? true;
    const { tls, pool } = anytlsOptions(node);
    this.pool = new AnyTlsSessionPool({ server: node.server, port: node.port, tls }, dialer, pool);
  }

  connect(target: Target, context: DialContext): Promise<ByteStream> {
    return this.open(encodeSocksAddress(target), context);
  }

  async openPackets(context: DialContext): Promise<PacketConnection> {
    if (!this.udp) throw new DialError('route', 'other', `${this.tag} carries no UDP`);
    const head = Buffer.concat([encodeSocksAddress(udpOverTcpTarget(2)), udpOverTcpRequest(2)]);
    return new UdpOverTcpPackets(await this.open(head, context));
  }

  close(): void {
    this.pool.close();
  }

  private async open(head: Uint8Array, context: DialContext): Promise<ByteStream> {
    return new PrologueStream(new AnyTlsStream(await this.pool.acquire(context)), head);
  }
}

const DEFAULT_IDLE_SECONDS = 30;
const MAX_IDLE_SECONDS = 3600;

/** Reads a node's options by their Clash names. */
export function anytlsOptions({ options }: OtherNode): { tls: NodeTls; pool: PoolOptions } {
  const [sni, fingerprint, alpn] = [text(options['sni']), text(options['fingerprint']), options['alpn']];
  const names = Array.isArray(alpn) ? alpn.filter((name) => typeof name === 'string' && name !== '') : [];
  const tls: NodeTls = {
    skipCertVerify: options['skip-cert-verify'] === true,
    ...(sni === undefined ? {} : { sni }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(names.length > 0 ? { alpn: names as string[] } : {}),
  };
  const idleSeconds = bounded(options['idle-session-timeout'], DEFAULT_IDLE_SECONDS, MAX_IDLE_SECONDS);
  const pool = {
    password: text(options['password']) ?? '',
    idleMs: idleSeconds * 1000,
  };
  return { tls, pool };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function bounded(value: unknown, otherwise: number, most: number): number {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? Math.min(number, most) : otherwise;
}
