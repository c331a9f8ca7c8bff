import type { RemoteInfo, Socket as UdpSocket } from 'node:dgram';
import { isIPv6, type Socket } from 'node:net';
import { createUdpSocket, encodeSocksDatagram, encodeSocksReply, SOCKS_REPLY, type ByteReader } from '@gatehouse/net';
import type { InboundContext, Login } from '../../interfaces/index.js';
import { endGently, plainAddress } from '../client-socket.js';
import { decodeDatagram } from './codec.js';
import { UdpFlows } from './udp-flows.js';

/** The most source ports of one client, such as one for each QUIC connection of its browser. */
const MAX_PORTS = 256;

export interface AssociationClient {
  /** The TCP connection that requested the association, which ends with it. */
  socket: Socket;
  reader: ByteReader;
  login: Login;
}

/** Answers UDP ASSOCIATE (RFC 1928 section 7) with a port of its own and relays datagrams until the client leaves. */
export async function serveUdpAssociation(context: InboundContext, client: AssociationClient): Promise<void> {
  const { socket, reader } = client;
  const address = plainAddress(socket.localAddress);
  reader.detach();
  const udp = createUdpSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    await bind(udp, address);
  } catch {
    return endGently(socket, encodeSocksReply(SOCKS_REPLY.failure));
  }
  if (socket.destroyed) return void udp.close();
  new Association(context, client, udp).start();
  socket.write(encodeSocksReply(SOCKS_REPLY.succeeded, { host: address, port: udp.address().port }));
}

function bind(udp: UdpSocket, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    udp.once('error', reject);
    udp.bind({ address, port: 0 }, () => {
      udp.off('error', reject);
      resolve();
    });
  });
}

class Association {
  private readonly client: AssociationClient;
  private readonly udp: UdpSocket;
  private readonly context: InboundContext;
  private readonly clientIp: string;
  /** By the client's source port, in the order of their first datagrams. */
  private readonly ports = new Map<number, UdpFlows>();

  constructor(context: InboundContext, client: AssociationClient, udp: UdpSocket) {
    this.client = client;
    this.udp = udp;
    this.context = context;
    this.clientIp = plainAddress(client.socket.remoteAddress);
  }

  start(): void {
    const { socket } = this.client;
    this.udp.on('message', (bytes, from) => this.received(bytes, from));
    this.udp.on('error', () => socket.destroy());
    socket.once('end', () => socket.end());
    socket.once('close', () => {
      this.udp.close();
      for (const flows of this.ports.values()) flows.close();
    });
    socket.resume();
  }

  private received(bytes: Buffer, from: RemoteInfo): void {
    if (plainAddress(from.address) !== this.clientIp) return;
    const datagram = decodeDatagram(bytes);
    if (!datagram) return;
    const flows = this.ports.get(from.port) ?? this.open(from.port);
    flows.send(datagram.payload, datagram.target);
  }

  private open(clientPort: number): UdpFlows {
    const [oldest] = this.ports;
    if (oldest && this.ports.size >= MAX_PORTS) {
      this.ports.delete(oldest[0]);
      oldest[1].close();
    }
    const { remotePort = 0 } = this.client.socket;
    const source = { ip: this.clientIp, port: remotePort, login: this.client.login, inboundPort: this.context.port };
    const flows = new UdpFlows(this.context, source, (payload, from) => {
      const datagram = encodeSocksDatagram(from, payload);
      if (datagram) this.udp.send(datagram, clientPort, this.clientIp, () => undefined);
    });
    this.ports.set(clientPort, flows);
    return flows;
  }
}
