import type { Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type NetConnectOpts, type Socket } from 'node:net';

/** A connection to a port of this machine. @throws Error when it is refused. */
export async function visit(port: number, more: Partial<NetConnectOpts> = {}): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true, ...more });
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  return socket;
}

/** All that comes until the connection is over, however it ends, and how. */
export function readToEnd(socket: Socket): Promise<{ text: string; reset: boolean }> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let reset = false;
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('error', () => (reset = true));
    socket.on('end', () => socket.destroy());
    socket.on('close', () => resolve({ text: Buffer.concat(parts).toString('latin1'), reset }));
  });
}

/** What comes back for `text` and an end; null where the connection is refused or reset. */
export async function exchange(port: number, text: string | Buffer): Promise<string | null> {
  let socket: Socket;
  try {
    socket = await visit(port);
  } catch {
    return null;
  }
  const read = readToEnd(socket);
  socket.end(text);
  const { text: answer, reset } = await read;
  return reset ? null : answer;
}

/** The first datagram that comes back. Sends again now and then: datagrams may be lost. */
export async function askUdp(visitor: UdpSocket, port: number, question: string | Buffer): Promise<Buffer> {
  const answer = once(visitor, 'message', { signal: AbortSignal.timeout(10_000) });
  const send = (): void => visitor.send(question, port, '127.0.0.1');
  const timer = setInterval(send, 500);
  send();
  try {
    return ((await answer) as [Buffer])[0];
  } finally {
    clearInterval(timer);
  }
}
