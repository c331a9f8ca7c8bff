import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@gatehouse/net';
import { probePort } from '../ports.js';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import { startOrder, type ComposeFile, type ComposeService } from './compose-file.js';
import { LocalProcess } from './local-process.js';

/** Where the servers that compose would start really are: `postgres:5432` → `127.0.0.1:40123`. */
export type Addresses = Readonly<Record<string, string>>;

const HEALTH_LIMIT_MS = 60_000;

/**
 * Runs the application services of a compose file as processes of this machine: the same commands with the same
 * environment, but for host names, container ports and volumes, which become loopback, free ports and folders.
 */
export class Rehearsal {
  readonly #file: ComposeFile;
  readonly #folder: string;
  readonly #addresses: Addresses;
  readonly #running: LocalProcess[] = [];
  readonly #ports = new Map<string, number>();

  constructor(file: ComposeFile, folder: string, addresses: Addresses) {
    this.#file = file;
    this.#folder = folder;
    this.#addresses = addresses;
  }

  /** Starts everything in order and calls `report` after each. @throws PlainFailure for what does not come up. */
  async start(report: (name: string, what: string) => void): Promise<void> {
    const { services } = this.#file;
    await this.#assignPorts();
    const external = new Set(Object.keys(this.#addresses).map((address) => address.split(':')[0]));
    for (const name of startOrder(services)) {
      const service = services[name];
      if (!service?.command || service.profiles || external.has(name)) continue;
      const started = performance.now();
      const what = await this.#run(name, service);
      report(name, `${what} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
    }
  }

  /** Loopback port of a service's container port. */
  port(name: string, containerPort: number): number {
    const port = this.#ports.get(`${name}:${containerPort}`);
    if (port === undefined) throw new Error(`${name} publishes no port ${containerPort}`);
    return port;
  }

  /** Stops in reverse order; the exit code of each. */
  async stop(): Promise<[string, number | null][]> {
    const codes: [string, number | null][] = [];
    for (const child of this.#running.splice(0).reverse()) codes.push([child.name, await child.stop()]);
    return codes;
  }

  /** For what is published, what listens on a container's own loopback, and where one container expects another. */
  async #assignPorts(): Promise<void> {
    const { services } = this.#file;
    const wanted = new Set<string>();
    for (const [name, { ports = [], environment = {} }] of Object.entries(services)) {
      for (const mapping of ports) wanted.add(`${name}:${mapping.split(':').at(-1)}`);
      for (const [key, value] of Object.entries(environment)) {
        if (key.endsWith('_PORT') && /^\d+$/.test(String(value))) wanted.add(`${name}:${value}`);
        const [, host = '', port] = /^([a-z-]+):(\d+)$/.exec(String(value)) ?? [];
        if (services[host]) wanted.add(`${host}:${port}`);
      }
    }
    for (const port of wanted) this.#ports.set(port, await freePort());
  }

  async #run(name: string, service: ComposeService): Promise<string> {
    const child = new LocalProcess({
      name,
      command: service.command ?? [],
      environment: this.#environment(name, service),
      logFile: join(this.#folder, `${name}.log`),
    });
    this.#running.push(child);
    if (this.#isOneShot(name)) {
      await child.completed();
      this.#running.pop();
      return 'completed';
    }
    await child.healthy(() => this.#probe(name, service), HEALTH_LIMIT_MS);
    return 'healthy';
  }

  #isOneShot(name: string): boolean {
    return Object.values(this.#file.services).some(
      ({ depends_on }) => depends_on?.[name]?.condition === 'service_completed_successfully',
    );
  }

  #environment(name: string, service: ComposeService): Record<string, string> {
    const volumes = (service.volumes ?? []).map((volume) => volume.split(':') as [string, string]);
    const entries = Object.entries(service.environment ?? {}).map(([key, value]) => {
      const volume = volumes.find(([, path]) => path === value)?.[0];
      return [key, volume === undefined ? this.#local(name, key, String(value)) : this.folderOf(volume)];
    });
    const home = this.folderOf(`home-of-${name}`);
    return { GATEHOUSE_HOME: home, ...(Object.fromEntries(entries) as Record<string, string>) };
  }

  /** The folder that takes the place of a volume. */
  folderOf(volume: string): string {
    const folder = join(this.#folder, volume);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  #local(name: string, key: string, value: string): string {
    if (key.endsWith('_PORT')) return String(this.#ports.get(`${name}:${value}`) ?? value);
    if (value === '0.0.0.0' || (key.endsWith('_HOST') && this.#file.services[value])) return '127.0.0.1';
    if (key.endsWith('_PUBLIC_ADDRESS')) return this.#asPublished(value);
    if (/^[a-z0-9.-]+:\d+$/.test(value)) return this.#atRealPort(name, value);
    return Object.entries(this.#addresses).reduce((text, [from, to]) => text.replaceAll(`@${from}`, `@${to}`), value);
  }

  /** The service's own health check, its container ports replaced by the real ones. */
  async #probe(name: string, service: ComposeService): Promise<boolean> {
    const [, program = '', ...args] = service.healthcheck?.test ?? [];
    if (program === '') throw new PlainFailure(`docker-compose.yml: ${name} has no health check.`);
    const local = args.map((arg) => this.#atRealPort(name, arg));
    const child = spawn(program === 'node' ? process.execPath : program, local, { cwd: ROOT, stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code === 0;
  }

  /** An address of this machine that one of the containers publishes. */
  #asPublished(text: string): string {
    const wanted = text.split(':').at(-1);
    for (const [name, { ports = [] }] of Object.entries(this.#file.services)) {
      const [, target] = ports.map((mapping) => mapping.split(':').slice(-2)).find(([port]) => port === wanted) ?? [];
      if (target !== undefined) return `127.0.0.1:${this.#ports.get(`${name}:${target}`)}`;
    }
    return text;
  }

  /** A container's own address, or another container's name, with its port. */
  #atRealPort(name: string, text: string): string {
    return text.replace(/(127\.0\.0\.1|0\.0\.0\.0|\b[a-z][a-z-]*):(\d+)/g, (whole, host: string, port: string) => {
      const found = this.#ports.get(`${/^\d/.test(host) ? name : host}:${port}`);
      return found === undefined ? whole : `127.0.0.1:${found}`;
    });
  }
}

const RANGE_SIZE = 20;
/** Below the ports that systems use for outgoing connections. */
const [LOWEST_PORT, HIGHEST_PORT] = [20_000, 32_000];

/** Ports in a row that were free a moment ago, as `first-last`. */
export async function freePortRange(): Promise<string> {
  for (;;) {
    const first = LOWEST_PORT + Math.floor(Math.random() * (HIGHEST_PORT - LOWEST_PORT));
    const ports = Array.from({ length: RANGE_SIZE }, (_, index) => first + index);
    const problems = await Promise.all(ports.map((port) => probePort(port)));
    if (problems.every((problem) => problem === undefined)) return `${first}-${first + RANGE_SIZE - 1}`;
  }
}
