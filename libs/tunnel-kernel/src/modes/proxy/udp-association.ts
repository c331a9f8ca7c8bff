import type { RemoteInfo, Socket as UdpSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { createUdpSocket, encodeSocksDatagram, encodeSocksReply, SOCKS_REPLY } from '@gatehouse/net';
import type { DatagramSession } from '../../datagrams/datagram-sessions.js';
import type { HostAndPort } from '../../environment.js';
import type { AdmittedSocket } from '../admission.js';
import { endpoint } from '../../base/endpoint.js';
import type { ModeContext } from '../mode.js';
import { decodeDatagram } from './socks5.js';

const RECEIVE_BUFFER_BYTES = 1024 * 1024;

/**
 * UDP ASSOCIATE (RFC 1928 section 7): a separate port for one visitor, for as long as its TCP connection is open. Only
 * datagrams from the visitor's address are accepted, and only from the first port that sends one.
 */
export class UdpAssociation {
  private readonly context: ModeContext;
  private readonly visitor: AdmittedSocket;
  private readonly udp: UdpSocket;
  private session: DatagramSession | null = null;
  /** The visitor's UDP port; 0 before its first datagram. */
  private port = 0;
  private closed = false;

  constructor(context: ModeContext, visitor: AdmittedSocket) {
    this.context = context;
    this.visitor = visitor;
    const type = isIPv6(visitor.entrance.address) ? 'udp6' : 'udp4';
    this.udp = createUdpSocket({ type, recvBufferSize: RECEIVE_BUFFER_BYTES });
    this.udp.on('error', () => this.close());
    this.udp.on('message', (datagram, from) => this.received(datagram, from));
  }

  /** Sends the visitor the port, and relays datagrams until its connection ends. */
  start(): void {
    const { socket, entrance, resource, clientId, visitor } = this.visitor;
    socket.on('close', () => this.close());
    socket.on('end', () => this.close());
    // Reading is needed to notice its end; any data is ignored.
    socket.resume();
    this.udp.bind({ address: entrance.address, port: 0, exclusive: true }, () => {
      if (this.closed) return;
      try {
        this.session = this.context.datagrams.open({
          admitted: { resource, clientId, visitor, asked: undefined, throttle: () => this.visitor.throttle() },
          entrance,
          idleMs: 0,
          onDatagram: (payload, source) => source && this.answer(payload, source),
          onClose: () => this.close(),
        });
      } catch {
        socket.end(encodeSocksReply(SOCKS_REPLY.failure));
        return this.close();
      }
      const { address, port } = this.udp.address();
      socket.write(encodeSocksReply(SOCKS_REPLY.succeeded, { host: address, port }));
    });
  }

  private received(datagram: Buffer, from: RemoteInfo): void {
    if (endpoint(from.address).address !== endpoint(this.visitor.socket.remoteAddress).address) return;
    if (this.port !== 0 && from.port !== this.port) return;
    const decoded = decodeDatagram(datagram);
    if (!decoded) return;
    this.port = from.port;
    this.session?.send(decoded.payload, decoded.target);
  }

  private answer(payload: Uint8Array, source: HostAndPort): void {
    const { remoteAddress } = this.visitor.socket;
    if (this.closed || this.port === 0 || remoteAddress === undefined) return;
    const datagram = encodeSocksDatagram(source, payload);
    if (datagram) this.udp.send(datagram, this.port, remoteAddress, () => undefined);
  }

  private close(): void {
    if (this.closed) return;
    this.closed = true;
    this.session?.close();
    this.udp.close();
    const { socket } = this.visitor;
    if (!socket.destroyed) socket.destroySoon();
  }
}
