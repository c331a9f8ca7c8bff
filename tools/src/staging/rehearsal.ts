import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../ports.js';
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

  async #assignPorts(service: ComposeService, name: string): Promise<void> {
    for (const mapping of service.ports ?? []) {
      this.#ports.set(`${name}:${mapping.split(':').at(-1)}`, await freePort());
    }
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
    return Object.entries(this.#addresses).reduce(
      (text, [from, to]) => text.replaceAll(`@${from}`, `@${to}`),
      String(value),
    );
  }

  /** The service's own health check, its container ports replaced by the real ones. */
  async #probe(name: string, service: ComposeService): Promise<boolean> {
    const [, program = '', ...args] = service.healthcheck?.test ?? [];
    if (program === '' || args.some((arg) => arg.includes('process.kill(1'))) return true; // asks for PID 1 of a container
    const local = args.map((arg) =>
      arg.replace(/127\.0\.0\.1:(\d+)/g, (whole, port: string) => {
        const found = this.#ports.get(`${name}:${port}`);
        return found === undefined ? whole : `127.0.0.1:${found}`;
      }),
    );
    const child = spawn(program === 'node' ? process.execPath : program, local, { stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code === 0;
  }
}
