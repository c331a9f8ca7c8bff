/** Everything that an agent carries, with 50 MB in each direction: the agent is a program on a Node of the test's choice. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { waitFor } from '@gatehouse/testing';
import { agentKeyHash, createAgentSecret, formatVisitorKey, type TunnelConfig } from '@gatehouse/tunnel-kernel';
import { expect } from 'vitest';
import { AgentPrograms, type StartedAgent } from './agent-program.js';
import { BULK, bulkBothWays, bulkDatagrams, bulkRequest, serveBulk, startBulkOrigin } from './bulk.js';
import { readExactly, socksConnect, SocksUdp } from './socks-client.js';
import { TunnelYard, type YardClient } from './tunnel-yard.js';
import { visit } from './visitors.js';

export interface AgentWay {
  /** Data channels are sealed, which is the default of a client. */
  encrypt: boolean;
  transport: 'raw' | 'websocket';
}

const MODES = ['tcp', 'udp', 'http_proxy', 'socks5', 'mix_proxy', 'file', 'secret', 'p2p'] as const;
const SLOW_MACHINE_MS = 20_000;

/** A server, one agent that was started on the given Node, and a tunnel of each mode. */
export class AgentScene {
  readonly yard: TunnelYard;
  readonly #programs: AgentPrograms;
  readonly #client: YardClient;
  readonly #way: AgentWay;
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-runtime-'));
  readonly #secret = createAgentSecret();
  readonly #ports = new Map<string, number>();
  #agent: StartedAgent | undefined;
  #bulk = 0;
  #origin = 0;
  #udpEcho = 0;

  private constructor(yard: TunnelYard, node: string, way: AgentWay) {
    this.yard = yard;
    this.#programs = new AgentPrograms(node);
    this.#way = way;
    this.#client = yard.client({ encrypt: way.encrypt });
  }

  static async start(node: string, way: AgentWay): Promise<AgentScene> {
    const scene = new AgentScene(await TunnelYard.start(), node, way);
    try {
      await scene.#open();
      return scene;
    } catch (error) {
      await scene.close();
      throw error;
    }
  }

  /** @throws Error with what the agent printed where it has ended meanwhile. */
  async close(): Promise<void> {
    const ended = this.#agent?.child.exitCode ?? this.#agent?.child.signalCode ?? null;
    this.#programs.killAll();
    await this.yard.close();
    rmSync(this.#folder, { recursive: true, force: true });
    if (ended !== null) throw new Error(`the agent ended with ${ended}:\n${this.#agent?.output()}`);
  }

  async tcp(): Promise<void> {
    await bulkBothWays(await visit(this.#port('tcp')));
  }

  async udp(): Promise<void> {
    const visitor = await this.yard.udpSocket();
    const port = this.#port('udp');
    await bulkDatagrams({ socket: visitor, headBytes: 0, send: (bytes) => visitor.send(bytes, port, '127.0.0.1') });
  }

  async httpProxy(mode: 'http_proxy' | 'mix_proxy' = 'http_proxy'): Promise<void> {
    const port = this.#port(mode);
    const through = await visit(port);
    through.write(`CONNECT 127.0.0.1:${this.#bulk} HTTP/1.1\r\nHost: 127.0.0.1:${this.#bulk}\r\n\r\n`);
    await pastHead(through, '200');
    await bulkBothWays(through);
  }

  async httpProxyRequests(): Promise<void> {
    const port = this.#port('http_proxy');
    const host = `127.0.0.1:${this.#origin}`;
    expect(await bulkRequest({ port, path: `http://${host}/`, host })).toBe(200);
    expect(await bulkRequest({ port, method: 'POST', path: `http://${host}/`, host })).toBe(200);
  }

  async socks(mode: 'socks5' | 'mix_proxy' = 'socks5'): Promise<void> {
    await bulkBothWays(await socksConnect(this.#port(mode), this.#bulk));
  }

  async socksUdp(): Promise<void> {
    const udp = await SocksUdp.open(this.#port('socks5'));
    try {
      const send = (bytes: Buffer): void => udp.send(bytes, this.#udpEcho);
      await bulkDatagrams({ socket: udp.socket, headBytes: 10, send });
    } finally {
      udp.close();
    }
  }

  async file(): Promise<void> {
    const port = this.#port('file');
    expect(await bulkRequest({ port, path: '/bulk' })).toBe(200);
    expect(await bulkRequest({ port, method: 'PUT', path: '/copy' })).toBe(201);
    expect(readFileSync(path.join(this.#folder, 'copy')).equals(BULK)).toBe(true);
  }

  async host(): Promise<void> {
    const port = this.yard.http;
    expect(await bulkRequest({ port, path: '/' })).toBe(200);
    expect(await bulkRequest({ port, method: 'POST', path: '/' })).toBe(200);
  }

  async upgrade(): Promise<void> {
    const socket = await visit(this.yard.http);
    const fields = ['Host: a.test', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'];
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    socket.write(`GET /socket HTTP/1.1\r\n${[...fields, key].join('\r\n')}\r\n\r\n`);
    await pastHead(socket, '101');
    await bulkBothWays(socket);
  }

  /** Through `visit`, a program on the same Node. A direct path needs a TCP connection to the port for agents. */
  async visit(mode: 'secret' | 'p2p'): Promise<void> {
    const fingerprint = this.#client.key.split('.')[2] ?? '';
    const tunnelId = this.#tunnelId(mode);
    const key = formatVisitorKey({ tunnelId, secret: this.#secret, fingerprint });
    const args = ['visit', ...this.#wayArguments(), '--listen', '127.0.0.1:0', '--log', 'text'];
    const visitor = this.#programs.start(args, { GATEHOUSE_VISITOR_KEY: key });
    const says = async (text: string): Promise<void> => {
      await waitFor(() => visitor.output().includes(text), { timeoutMs: SLOW_MACHINE_MS });
    };
    await says('leads to the tunnel');
    const port = Number(/127\.0\.0\.1:(\d+) leads/.exec(visitor.output())?.[1]);
    // The first connection goes through the gateway, and makes both sides look for a direct path.
    await bulkBothWays(await visit(port));
    if (mode === 'p2p' && this.#way.transport === 'raw') {
      await says('connections go directly to the agent');
      await bulkBothWays(await visit(port));
    }
    visitor.child.kill('SIGTERM');
    expect(await visitor.code).toBe(0);
  }

  async #open(): Promise<void> {
    const { yard } = this;
    writeFileSync(path.join(this.#folder, 'bulk'), BULK);
    this.#bulk = await yard.target(serveBulk);
    this.#udpEcho = await yard.udpEcho();
    const origin = await startBulkOrigin();
    yard.onClose(origin.close);
    this.#origin = origin.port;
    const states = await yard.apply({
      tunnels: MODES.map((mode) => this.#tunnel(mode)),
      hosts: [yard.host(this.#client, [origin.port])],
    });
    for (const mode of MODES) {
      const id = this.#tunnelId(mode);
      this.#ports.set(mode, states.find((state) => state.id === id)?.port ?? 0);
    }
    const rules = ['--allow', '127.0.0.1', '--allow-file-root', this.#folder];
    const args = [...this.#wayArguments(), ...rules];
    this.#agent = this.#programs.start(args, { GATEHOUSE_AGENT_KEY: this.#client.key });
    await Promise.race([yard.online(this.#client), this.#endOfAgent()]);
  }

  async #endOfAgent(): Promise<never> {
    const code = await this.#agent?.code;
    throw new Error(`the agent ended with ${code}:\n${this.#agent?.output()}`);
  }

  #tunnel(mode: (typeof MODES)[number]): TunnelConfig {
    const target = mode === 'udp' ? this.#udpEcho : this.#bulk;
    const hasTarget = ['tcp', 'udp', 'secret', 'p2p'].includes(mode);
    return this.yard.tunnel(this.#client, hasTarget ? [target] : [], {
      id: this.#tunnelId(mode),
      mode,
      ...(mode === 'file' && { file: { path: this.#folder, readOnly: false, stripPrefix: '' } }),
      ...(!hasTarget || mode === 'tcp' || mode === 'udp' ? {} : { visitorKeyHash: agentKeyHash(this.#secret) }),
    });
  }

  #tunnelId(mode: string): number {
    return 100 + MODES.findIndex((known) => known === mode);
  }

  #port(mode: string): number {
    return this.#ports.get(mode) ?? 0;
  }

  #wayArguments(): string[] {
    const { port } = this.yard;
    return this.#way.transport === 'raw'
      ? ['--server', `127.0.0.1:${port}`, '--transport', 'raw']
      : ['--server', `ws://127.0.0.1:${port}`];
  }
}

async function pastHead(socket: Socket, status: string): Promise<void> {
  let head = '';
  while (!head.endsWith('\r\n\r\n')) head += (await readExactly(socket, 1)).toString('latin1');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
}
