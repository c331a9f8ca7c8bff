import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp, createServer, type AddressInfo, type Socket } from 'node:net';
import { connect, createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { ServerIdentity } from '@gatehouse/tunnel-kernel';
import { waitFor } from '@gatehouse/testing';

/*
 * The tunnel's protocol written a second time, from docs/tunnel-protocol.md and from nothing else: what it is held against
 * is the library's own.
 */

const MAGIC = Buffer.from('475744', 'hex');

export interface Ticket {
  id: Buffer;
  key: Buffer;
}

export interface ControlFrame {
  type: number;
  body: Buffer;
}

export const FRAME = { auth: 1, refused: 2, welcome: 0x10, close: 0x11, config: 0x12, channels: 0x13 } as const;

function proof(key: Buffer, ...parts: (Buffer | string)[]): Buffer {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest().subarray(0, 16);
}

function frame(type: number, body: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length);
  header[0] = type;
  return Buffer.concat([header, body]);
}

/** Frames of a control connection, as they come. */
class Frames {
  readonly all: ControlFrame[] = [];
  #rest = Buffer.alloc(0);

  constructor(socket: TLSSocket) {
    socket.on('data', (part: Buffer) => {
      this.#rest = Buffer.concat([this.#rest, part]);
      while (this.#rest.length >= 4) {
        const end = 4 + this.#rest.readUIntBE(1, 3);
        if (this.#rest.length < end) return;
        this.all.push({ type: this.#rest[0] ?? 0, body: this.#rest.subarray(4, end) });
        this.#rest = this.#rest.subarray(end);
      }
    });
  }

  of(type: number): Buffer[] {
    return this.all.filter((one) => one.type === type).map(({ body }) => body);
  }
}

/** An agent that says what a test has it say. */
export class RawAgent {
  readonly control: TLSSocket;
  readonly frames: Frames;
  readonly #port: number;
  #used = 0;

  private constructor(control: TLSSocket, port: number) {
    this.control = control;
    this.#port = port;
    this.frames = new Frames(control);
  }

  /** Authenticates and waits until it is welcome. `more`: further fields of `auth`. */
  static async start(port: number, secret: string, agentId = 'raw', more: object = {}): Promise<RawAgent> {
    const agent = await RawAgent.connect(port);
    agent.send(FRAME.auth, JSON.stringify({ versions: [1], secret, agentId, epoch: 1, software: 'raw/1', ...more }));
    await waitFor(() => agent.frames.of(FRAME.welcome).length === 1);
    return agent;
  }

  static async connect(port: number): Promise<RawAgent> {
    const control = connect({ port, host: '127.0.0.1', ALPNProtocols: ['gwt/1'], rejectUnauthorized: false });
    control.on('error', () => undefined);
    await once(control, 'secureConnect');
    return new RawAgent(control, port);
  }

  send(type: number, body: string | Buffer): void {
    this.control.write(frame(type, Buffer.from(body)));
  }

  /** A ticket that was sent and not given out yet. */
  async ticket(): Promise<Ticket> {
    const at = this.#used;
    this.#used += 1;
    return waitFor<Ticket | null>(() => {
      const all = Buffer.concat(this.frames.of(FRAME.channels));
      const ticket = all.subarray(at * 48, at * 48 + 48);
      return ticket.length === 48 ? { id: ticket.subarray(0, 16), key: ticket.subarray(16) } : null;
    });
  }

  /** A data channel. */
  async open(ticket: Ticket, kind: 1 | 2 = 1): Promise<Socket> {
    const socket = connectTcp({ port: this.#port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(opening(ticket, kind));
    return socket;
  }

  close(): void {
    this.control.destroy();
  }
}

/** `kind`: 1 plain, 2 sealed. */
export function opening({ id, key }: Ticket, kind: 1 | 2 = 1): Buffer {
  const head = Buffer.concat([MAGIC, Buffer.of(kind), id]);
  return Buffer.concat([head, proof(key, 'open', head)]);
}

/** Bytes in a frame; without any it is the end. */
export function framed(text: string): Buffer {
  const header = Buffer.alloc(3);
  header.writeUIntBE(Buffer.byteLength(text), 0, 3);
  return Buffer.concat([header, Buffer.from(text)]);
}

/** Sealed records of both directions, as one side sees them. */
export class Records {
  readonly #mine: Buffer;
  readonly #theirs: Buffer;
  #sent = 0;
  #read = 0;

  constructor({ id, key }: Ticket, side: 'agent' | 'server') {
    const material = Buffer.from(hkdfSync('sha256', key, id, 'gatehouse channel', 64));
    const both = [material.subarray(0, 32), material.subarray(32)] as const;
    [this.#mine, this.#theirs] = side === 'agent' ? both : [both[1], both[0]];
  }

  seal(plain: string | Buffer): Buffer {
    const length = Buffer.alloc(3);
    length.writeUIntBE(Buffer.byteLength(plain), 0, 3);
    const cipher = createCipheriv('aes-256-gcm', this.#mine, nonce(this.#sent++));
    cipher.setAAD(length);
    const sealed = Buffer.concat([cipher.update(Buffer.from(plain)), cipher.final()]);
    return Buffer.concat([length, cipher.getAuthTag(), sealed]);
  }

  /** The records in `bytes`. @throws Error for one that does not open. */
  open(bytes: Buffer): Buffer[] {
    const opened: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const end = at + 19 + bytes.readUIntBE(at, 3);
      const decipher = createDecipheriv('aes-256-gcm', this.#theirs, nonce(this.#read++), { authTagLength: 16 });
      decipher.setAAD(bytes.subarray(at, at + 3));
      decipher.setAuthTag(bytes.subarray(at + 3, at + 19));
      opened.push(Buffer.concat([decipher.update(bytes.subarray(at + 19, end)), decipher.final()]));
      at = end;
    }
    return opened;
  }
}

function nonce(record: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(record, 8);
  return bytes;
}

export interface StartFields {
  version?: number;
  flags?: number;
  kind?: number;
  target?: number;
  id: number;
  destination?: string;
  /** How many visitors the channel carried before. */
  before?: number;
}

/** What the tag of a start begins with. */
function startLabel(before: number): Buffer {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(before);
  return Buffer.concat([Buffer.from('start'), ...(before > 0 ? [number] : [])]);
}

/** The server's first words on a channel. */
export function start(
  key: Buffer,
  { version = 1, flags = 0, kind = 0, target = 255, id, destination = '', before = 0 }: StartFields,
): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
  const numbers = Buffer.alloc(14);
  numbers[0] = kind;
  numbers[1] = target;
  numbers.writeBigUInt64BE(BigInt(id), 2);
  numbers.writeUInt16BE(40_000, 10);
  numbers.writeUInt16BE(80, 12);
  const rest = Buffer.concat([numbers, text('192.0.2.1'), text('192.0.2.2'), text(destination)]);
  const header = Buffer.from([version, flags, 0, 0]);
  header.writeUInt16BE(rest.length + 16, 2);
  return Buffer.concat([header, rest, proof(key, startLabel(before), header, rest)]);
}

export interface StartedByAgent {
  flags: number;
  id: number;
  kind: number;
  destination: string;
}

/** What a start says. @throws Error for one that was not made with the key. */
export function readStart(bytes: Buffer, key: Buffer, before = 0): StartedByAgent {
  const signed = bytes.subarray(0, -16);
  if (!proof(key, startLabel(before), signed).equals(bytes.subarray(-16)))
    throw new Error('a start for another channel');
  const visitorEnd = 19 + (bytes[18] ?? 0);
  const entranceEnd = visitorEnd + 1 + (bytes[visitorEnd] ?? 0);
  const destination = bytes.toString('utf8', entranceEnd + 1, entranceEnd + 1 + (bytes[entranceEnd] ?? 0));
  return { flags: bytes[1] ?? 0, id: Number(bytes.readBigUInt64BE(6)), kind: bytes[4] ?? 0, destination };
}

/** A server whose messages to its agent the test decides. */
export class RawServer {
  port = 0;
  /** Channels that the agent opened, by the id of their ticket, hex. */
  readonly channels = new Map<string, Socket>();
  readonly #server;
  readonly #tls;
  readonly #sockets = new Set<Socket>();
  #control: TLSSocket | null = null;
  #frames: Frames | null = null;

  private constructor({ key, certificate }: ServerIdentity) {
    this.#tls = createTlsServer(
      { key, cert: certificate, minVersion: 'TLSv1.3', ALPNProtocols: ['gwt/1'] },
      (stream) => {
        stream.on('error', () => undefined);
        this.#control = stream;
        this.#frames = new Frames(stream);
      },
    );
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  static async start(identity: ServerIdentity): Promise<RawServer> {
    const server = new RawServer(identity);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    server.port = (server.#server.address() as AddressInfo).port;
    return server;
  }

  /** Welcomes the agent and sends it its tunnels. */
  async welcome(config: { tunnels?: object[]; hosts?: object[] }, encrypt = false): Promise<void> {
    await waitFor(() => this.frames(FRAME.auth).length === 1);
    this.send(FRAME.welcome, JSON.stringify({ version: 1, clientId: 1, heartbeatMs: 10_000, encrypt }));
    this.send(FRAME.config, JSON.stringify({ revision: 1, tunnels: [], hosts: [], ...config }));
  }

  send(type: number, body: string | Buffer): void {
    this.#control?.write(frame(type, Buffer.from(body)));
  }

  frames(type: number): Buffer[] {
    return this.#frames?.of(type) ?? [];
  }

  /** The channel that the agent opens for a ticket. */
  async channel({ id, key }: Ticket): Promise<Socket> {
    this.send(FRAME.channels, Buffer.concat([id, key]));
    return waitFor(() => this.channels.get(id.toString('hex')));
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #accept(socket: Socket): void {
    socket.on('error', () => undefined);
    this.#sockets.add(socket.on('close', () => this.#sockets.delete(socket)));
    socket.once('readable', () => {
      const head = socket.read() as Buffer | null;
      if (!head) return;
      if (head[0] === 0x47) {
        this.channels.set(head.toString('hex', 4, 20), socket);
        return;
      }
      socket.unshift(head);
      this.#tls.emit('connection', socket);
    });
  }
}
