import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { reservePort } from '@gatehouse/testing';

const PROGRAM = fileURLToPath(new URL('../../apps/tunnel-gateway/dist/edge.js', import.meta.url));

/** Another edge on the database of a gateway, as a program with a home of its own. */
export class SeparateEdge implements AsyncDisposable {
  readonly name: string;
  readonly agents: number;
  readonly #process: ChildProcess;
  readonly #home: string;

  private constructor(name: string, agents: number, child: ChildProcess, home: string) {
    this.name = name;
    this.agents = agents;
    this.#process = child;
    this.#home = home;
  }

  /** Resolves when it serves. @param environment of the gateway, with the key that its programs share */
  static async start(name: string, environment: NodeJS.ProcessEnv): Promise<SeparateEdge> {
    const [agents, http, https, health] = await Promise.all([0, 1, 2, 3].map(() => reservePort()));
    const home = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-edge-'));
    const child = fork(PROGRAM, [], {
      env: {
        ...environment,
        GATEHOUSE_HOME: home,
        TUNNEL_EDGE_NAME: name,
        TUNNEL_EDGE_PUBLIC_HOST: `${name}.example.org`,
        TUNNEL_EDGE_CHANNEL: path.join(home, 'edge.sock'),
        TUNNEL_EDGE_HEALTH_PORT: String(health),
        TUNNEL_AGENT_PORT: String(agents),
        TUNNEL_HTTP_PORT: String(http),
        TUNNEL_HTTPS_PORT: String(https),
      },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const edge = new SeparateEdge(name, agents!, child, home);
    const [message] = (await once(child, 'message')) as [{ type: string; lines?: string[] }];
    if (message.type === 'ready') return edge;
    await edge[Symbol.asyncDispose]();
    throw new Error(message.lines?.join('\n'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGTERM');
      await once(this.#process, 'exit');
    }
    rmSync(this.#home, { recursive: true, force: true });
  }
}
