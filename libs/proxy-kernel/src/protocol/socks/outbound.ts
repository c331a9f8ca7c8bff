import type { Socket } from 'node:net';
import type { Socks5Node } from '@gatehouse/contracts';
import type { ByteReader, ByteStream } from '@gatehouse/net';
import {
  DialError,
  type DialContext,
  type ErrorKind,
  type Outbound,
  type PacketConnection,
  type Resolver,
  type Target,
} from '../../interfaces/index.js';
import { dialNodeServer, shakeHands } from '../../transport/node-server.js';
import * as codec from './codec.js';
import { SocksPackets } from './packets.js';

const ANY: Target = { host: '0.0.0.0', port: 0 };

/** A SOCKS5 server (RFC 1928) with or without a password (RFC 1929), itself reached with or without TLS. */
export class Socks5Outbound implements Outbound {
  readonly tag: string;
  readonly type = 'socks5';
  readonly udp: boolean;
  private readonly node: Socks5Node;
  private readonly resolver: Resolver;

  constructor(tag: string, node: Socks5Node, resolver: Resolver) {
    this.tag = tag;
    this.node = node;
    this.resolver = resolver;
    this.udp = node.udp ?? true;
  }

  async connect(target: Target, context: DialContext): Promise<ByteStream> {
    const { socket } = await this.command(codec.COMMAND_CONNECT, target, context);
    return socket;
  }

  async openPackets(context: DialContext): Promise<PacketConnection> {
    const { socket, bound } = await this.command(codec.COMMAND_UDP_ASSOCIATE, ANY, context);
    // "Wherever you reached me" (RFC 1928 says nothing of it, every server does it).
    const anywhere = bound.host === '0.0.0.0' || bound.host === '::';
    return new SocksPackets(socket, anywhere ? { host: socket.remoteAddress ?? '', port: bound.port } : bound);
  }

  private async command(
    command: number,
    target: Target,
    { signal }: DialContext,
  ): Promise<{ socket: Socket; bound: Target }> {
    const socket = await dialNodeServer(this.node, this.resolver, signal);
    const bound = await shakeHands(socket, signal, async (reader) => {
      await this.authenticate(socket, reader);
      socket.write(Buffer.concat([Buffer.from([codec.SOCKS5, command, 0]), codec.encodeAddress(target)]));
      return readReply(reader);
    });
    return { socket, bound };
  }

  private async authenticate(socket: Socket, reader: ByteReader): Promise<void> {
    const { username, password = '' } = this.node;
    const methods = username === undefined ? [codec.AUTH_NONE] : [codec.AUTH_NONE, codec.AUTH_PASSWORD];
    socket.write(Buffer.from([codec.SOCKS5, methods.length, ...methods]));
    const [version, method = codec.AUTH_UNACCEPTABLE] = await reader.read(2);
    if (version !== codec.SOCKS5)
      throw new DialError('handshake', 'protocol_error', 'the server does not speak SOCKS5');
    if (method === codec.AUTH_NONE) return;
    if (method !== codec.AUTH_PASSWORD || username === undefined) {
      throw new DialError('handshake', 'auth_failed', 'the server accepts none of our ways to sign in');
    }
    socket.write(codec.encodePasswordRequest(username, password));
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
