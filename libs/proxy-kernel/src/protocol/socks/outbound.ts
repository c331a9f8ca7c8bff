import type { Socks5Node } from '@gatehouse/contracts';
import type { ByteReader, ByteStream } from '@gatehouse/net';
import {
  DialError,
  type DialContext,
  type ErrorKind,
  type Outbound,
  type PacketConnection,
  type Target,
} from '../../interfaces/index.js';
import { dialNodeServer, shakeHands } from '../../transport/node-server.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import * as codec from './codec.js';
import { SocksPackets } from './packets.js';

const ANY: Target = { host: '0.0.0.0', port: 0 };

/** A SOCKS5 server (RFC 1928) with or without a password (RFC 1929), itself reached with or without TLS. */
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
    const { stream } = await this.command(codec.COMMAND_CONNECT, target, context);
    return stream;
  }

  async openPackets(context: DialContext): Promise<PacketConnection> {
    const { stream, bound } = await this.command(codec.COMMAND_UDP_ASSOCIATE, ANY, context);
    // "Wherever you reached me" (RFC 1928 says nothing of it, every server does it).
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
  ): Promise<{ stream: ByteStream; bound: Target }> {
    const stream = await dialNodeServer(this.node, this.dialer, context);
    const bound = await shakeHands(stream, context.signal, async (reader) => {
      await this.authenticate(stream, reader);
      context.onStage?.('greeting');
      stream.write(Buffer.concat([Buffer.from([codec.SOCKS5, command, 0]), codec.encodeAddress(target)]));
      return readReply(reader);
    });
    return { stream, bound };
  }

  private async authenticate(stream: ByteStream, reader: ByteReader): Promise<void> {
    const { username, password = '' } = this.node;
    const methods = username === undefined ? [codec.AUTH_NONE] : [codec.AUTH_NONE, codec.AUTH_PASSWORD];
    stream.write(Buffer.from([codec.SOCKS5, methods.length, ...methods]));
    const [version, method = codec.AUTH_UNACCEPTABLE] = await reader.read(2);
    if (version !== codec.SOCKS5)
      throw new DialError('handshake', 'protocol_error', 'the server does not speak SOCKS5');
    if (method === codec.AUTH_NONE) return;
    if (method !== codec.AUTH_PASSWORD || username === undefined) {
      throw new DialError('handshake', 'auth_failed', 'the server accepts none of our ways to sign in');
    }
    stream.write(codec.encodePasswordRequest(username, password));
    const [, status] = await reader.read(2);
    if (status !== 0) throw new DialError('handshake', 'auth_failed', 'the server refused user and password');
  }
}

async function readReply(reader: ByteReader): Promise<Target> {
  const [version, reply = codec.REPLY.generalFailure] = await reader.read(3);
  if (version !== codec.SOCKS5) throw new DialError('handshake', 'protocol_error', 'the server does not speak SOCKS5');
  if (reply !== codec.REPLY.succeeded) throw refusal(reply);
  const start = await reader.peek(2);
  const address = codec.decodeAddress(await reader.read(codec.addressLength(start[0], start[1])));
  if (!address) throw new DialError('handshake', 'protocol_error', 'the bound address is cut off');
  return address.target;
}

function refusal(reply: number): DialError {
  const kinds: Record<number, ErrorKind> = {
    [codec.REPLY.networkUnreachable]: 'unreachable',
    [codec.REPLY.hostUnreachable]: 'unreachable',
    [codec.REPLY.connectionRefused]: 'connection_refused',
    [codec.REPLY.ttlExpired]: 'timeout',
  };
  return new DialError('handshake', kinds[reply] ?? 'other', `the server answered ${reply}`);
}
