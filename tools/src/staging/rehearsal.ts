import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, probePort } from '../ports.js';
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
    const external = new Set(Object.keys(this.#addresses).map((address) => address.split(':')[0]));
    for (const name of startOrder(services)) {
      const service = services[name];
      if (!service?.command || external.has(name)) continue;
      await this.#assignPorts(service, name);
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

  /** For what is published, and what listens on the container's own loopback. */
  async #assignPorts(service: ComposeService, name: string): Promise<void> {
    const published = (service.ports ?? []).map((mapping) => mapping.split(':').at(-1) ?? '');
    const listening = Object.entries(service.environment ?? {}).flatMap(([key, value]) =>
      /^\d+$/.test(String(value)) && key.endsWith('_PORT') ? [String(value)] : [],
    );
    for (const port of new Set([...published, ...listening])) this.#ports.set(`${name}:${port}`, await freePort());
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
    const home = join(this.#folder, name);
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const entries = Object.entries(service.environment ?? {}).map(([key, value]) => [
      key,
      this.#local(name, key, value),
    ]);
    return { ...(Object.fromEntries(entries) as Record<string, string>), GATEHOUSE_HOME: home };
  }

  #local(name: string, key: string, value: string | number): string {
    if (key.endsWith('_PORT')) return String(this.#ports.get(`${name}:${value}`) ?? value);
    if (value === '0.0.0.0') return '127.0.0.1';
    if (key.endsWith('_ADDRESS')) return this.#atRealPort(name, String(value));
    return Object.entries(this.#addresses).reduce(
      (text, [from, to]) => text.replaceAll(`@${from}`, `@${to}`),
      String(value),
    );
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

  #atRealPort(name: string, text: string): string {
    return text.replace(/127\.0\.0\.1:(\d+)/g, (whole, port: string) => {
      const found = this.#ports.get(`${name}:${port}`);
      return found === undefined ? whole : `127.0.0.1:${found}`;
    });
  }
}

const RANGE_SIZE = 20;
/** Below the ports that systems give out by themselves. */
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
