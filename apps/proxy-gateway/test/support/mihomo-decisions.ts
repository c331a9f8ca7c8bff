import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, isIP } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { formatHostPort, parseIp } from '@gatehouse/net';
import { waitFor } from '@gatehouse/testing';
import { readFlow, readLogLine } from '../../src/kernel/mihomo/mihomo-flow-log.js';
import type { Destination } from './random-profile.js';

/** Where a connection goes: the target of its rule, and the node behind it. */
export interface Decision {
  target: string;
  node: string;
  /** For messages: the rule, as the program calls it. */
  rule: string;
  /** Why the way out failed; mihomo does not say then which node of the target it took. */
  error: string | null;
}

const AT_ONCE = 48;
const LIMIT_MS = 15_000;
/** The first letter of the method. */
const CONNECT = 0x43;
const UDP_ASSOCIATE = 3;
const ACCEPTED = Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 9]);
const READY: Destination = { network: 'tcp', host: 'ready.example', port: 1, source: '127.0.0.1' };

export interface Marker extends AsyncDisposable {
  port: number;
  /** The user who asked for each port, which is the node; `CONNECT` without one. */
  asked: Map<number, string>;
}

/** A proxy on loopback that stands for every node: it accepts each request by SOCKS5 or CONNECT, and ends TCP at once. */
export async function startMarker(): Promise<Marker> {
  const sockets = new Set<Socket>();
  const asked = new Map<number, string>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    const replies = [Buffer.from([5, 2]), Buffer.from([1, 0])];
    let user = '';
    socket.on('data', (chunk: Buffer) => {
      if (chunk[0] === CONNECT) {
        asked.set(Number(/:(\d+) /.exec(chunk.toString('latin1'))?.[1]), 'CONNECT');
        socket.end('HTTP/1.1 200 OK\r\n\r\n');
        return;
      }
      const reply = replies.shift();
      if (replies.length === 0 && reply) user = chunk.toString('utf8', 2, 2 + (chunk[1] ?? 0));
      if (reply) socket.write(reply);
      else if (chunk[1] === UDP_ASSOCIATE) socket.write(ACCEPTED);
      else {
        asked.set(chunk.readUInt16BE(chunk.length - 2), user);
        socket.end(ACCEPTED);
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface MihomoRun {
  program: string;
  /** The configuration. */
  text: string;
  port: number;
  /** Further files of its folder. */
  files: Record<string, Buffer>;
}

/** Opens a connection to each destination through a mihomo with this configuration, and reads its decisions from its log. */
export async function decisionsOfMihomo(run: MihomoRun, destinations: readonly Destination[]): Promise<Decision[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mihomo-routing-'));
  for (const [name, content] of Object.entries(run.files)) writeFileSync(join(folder, name), content);
  writeFileSync(join(folder, 'config.yaml'), run.text);
  const child = spawn(run.program, ['-d', folder, '-f', join(folder, 'config.yaml')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const seen = new Decisions();
  const last: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    const { message } = readLogLine(line);
    last.push(message);
    if (last.length > 20) last.shift();
    const flow = readFlow(message);
    if (!flow) return;
    const rule = flow.rule ? `${flow.rule.type} ${flow.rule.payload}` : '';
    const key = `${flow.network} ${flow.source} ${flow.destination}`;
    seen.set(key, { target: flow.target, node: flow.outbound, rule, error: flow.error });
  });
  const exited = once(child, 'exit');
  try {
    await waitFor(async () => {
      if (child.exitCode !== null) throw new Error(`mihomo ended: ${last.join('\n')}`);
      // It listens before it takes connections.
      if (!(await accepts(run.port))) return false;
      const { source, closed, end } = await openTunnel(run.port, READY);
      await Promise.race([closed, seen.next(`tcp ${source} ${READY.host}:${READY.port}`)]);
      end();
      return seen.any;
    });
    return await askAll(run.port, destinations, seen);
  } catch (error) {
    throw new Error(`${String(error)}; mihomo said:\n${last.join('\n')}`, { cause: error });
  } finally {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function askAll(port: number, destinations: readonly Destination[], seen: Decisions): Promise<Decision[]> {
  const decisions: Decision[] = [];
  const open: (() => void)[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < destinations.length; at = next++) {
      const destination = destinations[at]!;
      const asked =
        destination.network === 'udp' ? await sendDatagram(port, destination) : await openTunnel(port, destination);
      const where = formatHostPort(destination.host, destination.port);
      const key = `${destination.network} ${asked.source} ${where}`;
      decisions[at] = await seen.next(key);
      // mihomo keeps the ways of datagrams by their source for a minute, so that no later one may have the same.
      if (destination.network === 'tcp') asked.end();
      else open.push(asked.end);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  } finally {
    for (const end of open) end();
  }
  return decisions;
}

/** The first decision about each flow. */
class Decisions {
  any = false;
  private readonly known = new Map<string, Decision>();
  private readonly waiting = new Map<string, (decision: Decision) => void>();

  set(key: string, decision: Decision): void {
    this.any = true;
    if (this.known.has(key)) return;
    this.known.set(key, decision);
    this.waiting.get(key)?.(decision);
  }

  next(key: string): Promise<Decision> {
    const known = this.known.get(key);
    if (known) return Promise.resolve(known);
    const { promise, resolve, reject } = Promise.withResolvers<Decision>();
    const timer = setTimeout(() => reject(new Error(`mihomo says nothing about ${key}`)), LIMIT_MS);
    this.waiting.set(key, resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.waiting.delete(key);
    });
  }
}

interface Asked {
  /** `address:port` of the client. */
  source: string;
  end: () => void;
}

/** Asks by SOCKS5. mihomo may keep the connection open, so the caller ends it. */
export async function openTunnel(
  port: number,
  { host, port: target, source }: Destination,
): Promise<Asked & { closed: Promise<unknown> }> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: source });
  socket.on('error', () => undefined).setTimeout(LIMIT_MS, () => socket.destroy());
  await once(socket, 'connect');
  const from = `${source}:${socket.localPort}`;
  const closed = once(socket, 'close');
  socket.write(Buffer.from([5, 1, 0]));
  socket.once('data', () => {
    socket.write(Buffer.concat([Buffer.from([5, 1, 0]), address(host, target)]));
    socket.resume();
  });
  return { source: from, closed, end: () => socket.destroy() };
}

/** mihomo keeps a way for each client address, so that each datagram needs a socket of its own. */
async function sendDatagram(port: number, { host, port: target }: Destination): Promise<Asked> {
  const control = connect(port, '127.0.0.1');
  control.on('error', () => undefined);
  control.write(Buffer.from([5, 1, 0]));
  await once(control, 'data');
  control.write(Buffer.from([5, 3, 0, 1, 0, 0, 0, 0, 0, 0]));
  const [reply] = (await once(control, 'data')) as [Buffer];
  const socket = createSocket('udp4');
  await once(socket.bind(0, '127.0.0.1'), 'listening');
  socket.on('error', () => undefined);
  socket.send(
    Buffer.concat([Buffer.from([0, 0, 0]), address(host, target), Buffer.from('x')]),
    reply.readUInt16BE(8),
    '127.0.0.1',
  );
  return {
    source: `127.0.0.1:${socket.address().port}`,
    end() {
      socket.close();
      control.destroy();
    },
  };
}

function address(host: string, port: number): Buffer {
  const end = Buffer.from([port >> 8, port & 255]);
  if (isIP(host) === 0) return Buffer.concat([Buffer.from([3, host.length]), Buffer.from(host), end]);
  const words = Buffer.alloc(isIP(host) === 4 ? 4 : 16);
  for (const [index, word] of (parseIp(host)?.words ?? []).entries()) words.writeUInt32BE(word, index * 4);
  return Buffer.concat([Buffer.from([isIP(host) === 4 ? 1 : 4]), words, end]);
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    // It does not listen yet.
    return false;
  } finally {
    socket.destroy();
  }
}
