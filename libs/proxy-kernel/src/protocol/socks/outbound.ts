import type { Socks5Node } from '@gatehouse/contracts';
import {
  encodeSocksPassword,
  encodeSocksRequest,
  readSocksAddress,
  SOCKS5_VERSION,
  SOCKS_COMMAND,
  SOCKS_METHOD,
  SOCKS_REPLY,
  type ByteReader,
  type ByteStream,
  type SocksAddress,
} from '@gatehouse/net';
import {
  DialError,
  type DialContext,
  type ErrorKind,
  type Outbound,
  type PacketConnection,
  type Target,
} from '../../interfaces/index.js';
import { normalHost } from '../../transport/normal-host.js';
import { dialNodeServer, shakeHands } from '../../transport/node-server.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import { SocksPackets } from './packets.js';

const ANY: Target = { host: '0.0.0.0', port: 0 };

/** A SOCKS5 server (RFC 1928) with or without a password (RFC 1929), reached with or without TLS. */
export class Socks5Outbound implements Outbound {
  readonly tag: string;
  readonly type = 'socks5';
  private readonly node: Socks5Node;
  private readonly dialer: ServerDialer;

  constructor(tag: string, node: Socks5Node, dialer: ServerDialer) {
    this.tag = tag;
    this.node = node;
    this.dialer = dialer;
  }

  get udp(): boolean {
    return (this.node.udp ?? true) && this.dialer.udp;
  }

  async connect(target: Target, context: DialContext): Promise<ByteStream> {
    const { stream } = await this.command(SOCKS_COMMAND.connect, target, context);
    return stream;
  }

  async openPackets(context: DialContext): Promise<PacketConnection> {
    const { stream, bound } = await this.command(SOCKS_COMMAND.associate, ANY, context);
    // It means the address that the server was reached at. RFC 1928 does not say so, but all servers do it.
    const anywhere = bound.host === '0.0.0.0' || bound.host === '::';
    const reached = (this.dialer.direct ? stream.remoteAddress : undefined) ?? this.node.server;
    try {
      const relay = await this.dialer.openPackets(anywhere ? reached : bound.host, bound.port, context);
      return new SocksPackets(stream, relay);
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  private async command(
    command: number,
    target: Target,
    context: DialContext,
  ): Promise<{ stream: ByteStream; bound: SocksAddress }> {
    const stream = await dialNodeServer(this.node, this.dialer, context);
    const bound = await shakeHands(stream, context.signal, async (reader) => {
      await this.authenticate(stream, reader);
      context.onStage?.('greeting');
      stream.write(encodeSocksRequest(command, target));
      return readReply(reader);
    });
    return { stream, bound };
  }

  private async authenticate(stream: ByteStream, reader: ByteReader): Promise<void> {
    const { username, password = '' } = this.node;
    const methods = username === undefined ? [SOCKS_METHOD.none] : [SOCKS_METHOD.none, SOCKS_METHOD.password];
    stream.write(Buffer.from([SOCKS5_VERSION, methods.length, ...methods]));
    const [version, method = SOCKS_METHOD.unacceptable] = await reader.read(2);
    if (version !== SOCKS5_VERSION)
      throw new DialError('handshake', 'protocol_error', 'the server does not speak SOCKS5');
    if (method === SOCKS_METHOD.none) return;
    if (method !== SOCKS_METHOD.password || username === undefined) {
      throw new DialError('handshake', 'auth_failed', 'the server accepts none of our ways to sign in');
    }
    stream.write(encodeSocksPassword(username, password));
    const [, status] = await reader.read(2);
    if (status !== 0) throw new DialError('handshake', 'auth_failed', 'the server refused user and password');
  }
}

async function readReply(reader: ByteReader): Promise<SocksAddress> {
  const [version, reply = SOCKS_REPLY.failure] = await reader.read(3);
  if (version !== SOCKS5_VERSION)
    throw new DialError('handshake', 'protocol_error', 'the server does not speak SOCKS5');
  if (reply !== SOCKS_REPLY.succeeded) throw refusal(reply);
  return readSocksAddress(reader, normalHost);
}

function refusal(reply: number): DialError {
  const kinds: Record<number, ErrorKind> = {
    [SOCKS_REPLY.networkUnreachable]: 'unreachable',
    [SOCKS_REPLY.hostUnreachable]: 'unreachable',
    [SOCKS_REPLY.refused]: 'connection_refused',
    [SOCKS_REPLY.timeout]: 'timeout',
  };
  return new DialError('handshake', kinds[reply] ?? 'other', `the server answered ${reply}`);
}
