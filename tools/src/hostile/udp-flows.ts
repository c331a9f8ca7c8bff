import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { dial, listenTo } from './sockets.js';

const TRIES = 10;
const EACH_MS = 1_000;

/** Datagrams with numbers to an echo: one that is lost goes again, as programs that use UDP do. */
export class UdpAsker {
  /** Bytes of the answers that arrived. */
  received = 0;
  private next = 0;
  private readonly waiting = new Map<number, () => void>();

  private constructor(
    private readonly socket: UdpSocket,
    private readonly port: number,
    /** What comes before the payload, there and back. */
    private readonly head: Buffer,
    private readonly control: Socket | null,
  ) {
    socket.on('message', (data) => {
      if (data.length !== head.length + 4) return;
      this.received += 4;
      this.waiting.get(data.readUInt32BE(head.length))?.();
    });
    socket.on('error', () => undefined);
  }

  static async direct(port: number): Promise<UdpAsker> {
    return new UdpAsker(await bound(), port, Buffer.alloc(0), null);
  }

  /** By an association of a SOCKS5 proxy (RFC 1928 section 7). */
  static async throughSocks(proxyPort: number, target: number, from?: string): Promise<UdpAsker> {
    const { control, relay } = await associate(proxyPort, from);
    const head = Buffer.from([0, 0, 0, 1, 127, 0, 0, 1, target >> 8, target & 255]);
    return new UdpAsker(await bound(from), relay, head, control);
  }

  /** Whether one of a few datagrams was answered. */
  async ask(): Promise<boolean> {
    this.next += 1;
    const number = this.next;
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(number);
    const packet = Buffer.concat([this.head, payload]);
    try {
      const answered = new Promise<true>((resolve) => this.waiting.set(number, () => resolve(true)));
      for (let at = 0; at < TRIES; at += 1) {
        this.socket.send(packet, this.port, '127.0.0.1', () => undefined);
        const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), EACH_MS));
        if (await Promise.race([answered, late])) return true;
      }
      return false;
    } finally {
      this.waiting.delete(number);
    }
  }

  /** The association has ended; never so without one. */
  get isCut(): boolean {
    return this.control?.destroyed === true || this.control?.readableEnded === true;
  }

  close(): void {
    this.control?.destroy();
    this.socket.close();
  }
}

async function bound(from = '127.0.0.1'): Promise<UdpSocket> {
  const socket = createSocket('udp4').bind(0, from);
  await once(socket, 'listening');
  return socket;
}

/** A UDP association of a SOCKS5 proxy; it lives as long as the control connection. */
export async function associate(proxyPort: number, from?: string): Promise<{ control: Socket; relay: number }> {
  const control = dial({ port: proxyPort, ...(from !== undefined && { from }) });
  control.write(Buffer.from([5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]));
  const { text } = await listenTo(control, (received) => received.length >= 12, 10_000);
  const answer = Buffer.from(text, 'latin1');
  if (answer.length < 12 || answer[3] !== 0) {
    control.destroy();
    throw new Error('the proxy opens no association');
  }
  control.resume();
  return { control, relay: answer.readUInt16BE(10) };
}
