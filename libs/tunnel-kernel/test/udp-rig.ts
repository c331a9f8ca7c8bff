import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { TunnelRig } from './tunnel-rig.js';

/** A UDP socket on loopback, with room for what a test sends at once. */
export async function udpSocket(port = 0): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  socket.on('error', () => undefined);
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

/** Sends and answers with the first datagram that comes. */
export async function ask(visitor: Socket, port: number, question: Buffer | string): Promise<Buffer> {
  const answer = once(visitor, 'message') as Promise<[Buffer, RemoteInfo]>;
  visitor.send(question, port, '127.0.0.1');
  return (await answer)[0];
}

/** The network between an agent and its server, for UDP and TCP; agents connect to `port`. */
export interface UdpLine {
  port: number;
  /** Packets longer than this are lost, as where fragments are; 0: all. */
  longest: number;
  /** Lets packets only from the agent to the server pass. */
  oneWay: boolean;
  /** Packets from the agent, as they passed. */
  seen: Buffer[];
  /** The server sees the agent at another address from now on. */
  rebind(): Promise<void>;
  /** To the server, from a socket of its own. */
  inject(packet: Buffer): void;
  /** While true, what the server says on the control connection is late. */
  hold(value: boolean): void;
  /** Resets the agent's TCP connections. */
  cut(): void;
  close(): void;
}

export async function udpLine(rig: TunnelRig): Promise<UdpLine> {
  const tcp = await rig.line();
  const near = await udpSocket(tcp.port);
  const stranger = await udpSocket();
  let agent: RemoteInfo | null = null;
  let far = await udpSocket();
  const passes = (packet: Buffer): boolean => packet.length <= line.longest;
  const back = (packet: Buffer): void => {
    if (agent && passes(packet) && !line.oneWay) near.send(packet, agent.port, agent.address);
  };
  far.on('message', back);
  near.on('message', (packet, from) => {
    agent = from;
    if (!passes(packet)) return;
    line.seen.push(packet);
    far.send(packet, rig.port, '127.0.0.1');
  });
  const line: UdpLine = {
    port: tcp.port,
    longest: 65_535,
    oneWay: false,
    seen: [],
    rebind: async () => {
      far.close();
      far = await udpSocket();
      far.on('message', back);
    },
    inject: (packet) => stranger.send(packet, rig.port, '127.0.0.1'),
    hold: (value) => tcp.hold(value),
    cut: () => tcp.cut(),
    close: () => {
      for (const socket of [near, far, stranger]) socket.close();
    },
  };
  return line;
}
