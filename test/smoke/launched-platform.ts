import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reservePort, waitFor } from '@gatehouse/testing';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const PORT_VARIABLES = [
  'PROXY_GATEWAY_PORT',
  'RESOURCE_SHARING_PORT',
  'TUNNEL_GATEWAY_PORT',
  'TUNNEL_AGENT_PORT',
  'TUNNEL_HTTP_PORT',
  'TUNNEL_HTTPS_PORT',
  'PROXY_KERNEL_PORT',
] as const;

export type Ports = Record<(typeof PORT_VARIABLES)[number], number>;

/** Ports that were free at this moment, all different. */
export async function freePorts(): Promise<Ports> {
  const ports = await Promise.all(PORT_VARIABLES.map(() => reservePort()));
  return Object.fromEntries(PORT_VARIABLES.map((name, i) => [name, ports[i]])) as Ports;
}

/** Readable for others: root's PostgreSQL runs under an account of its own, and would else keep its data outside. */
export function temporaryHome(name: string): string {
  const home = mkdtempSync(join(tmpdir(), name));
  chmodSync(home, 0o755);
  return home;
}

/** `node tools/up.mjs` as a process, with what it prints. */
export class LaunchedPlatform {
  output = '';
  errors = '';
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  constructor(home: string, ports: Ports, extra: Record<string, string> = {}, node = process.execPath) {
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      GATEHOUSE_HOME: home,
      LOG_LEVEL: 'info',
      TUNNEL_LISTEN_ADDRESS: '127.0.0.1',
      LANGUAGE: 'en',
    };
    for (const name of PORT_VARIABLES) env[name] = String(ports[name]);
    // The test runner's own variables are not for the platform.
    for (const name of Object.keys(env)) {
      if (/^(VITEST|npm_|NODE_ENV$|NODE_OPTIONS$|DATABASE_URL$|REDIS_URL$|GATEHOUSE_ADMIN_PASSWORD$)/.test(name)) {
        delete env[name];
      }
    }
    Object.assign(env, extra);
    this.child = spawn(node, [join(ROOT, 'tools/up.mjs')], {
      cwd: '/',
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.ended = new Promise((resolve) => this.child.once('close', (code, signal) => resolve({ code, signal })));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Waits for the table; fails with what was printed when the platform ends instead. */
  async ready(): Promise<this> {
    const isReady = waitFor(() => this.output.includes('Ready in'), { timeoutMs: 60_000 });
    const hasEnded = this.ended.then(({ code }) => {
      throw new Error(`npm start ended with ${code}:\n${this.output}\n${this.errors}`);
    });
    await Promise.race([isReady, hasEnded]);
    return this;
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<{ code: number | null; seconds: number }> {
    const started = Date.now();
    this.child.kill(signal);
    const { code } = await this.ended;
    return { code, seconds: (Date.now() - started) / 1000 };
  }
}

/** Living processes that carry this home in their environment or command line. */
export function processesOf(home: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        const belongs = environment.includes(`GATEHOUSE_HOME=${home}`) || command.includes(home);
        return belongs && command !== '' ? [`${pid} ${command}`] : [];
      } catch {
        return []; // it ended in between, or belongs to another user
      }
    });
}
