import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceProcess } from '../supervisor/service-process.js';
import { eventuallyTrue } from '../trials/eventually-true.js';
import { GRACE_MS, OPEN_MS } from './environments.js';
import type { Role } from './places.js';
import type { Place } from './visits.js';

const PROGRAMS: Readonly<Record<Role, string>> = {
  'proxy-gateway': 'apps/proxy-gateway/dist/main.js',
  'resource-sharing': 'apps/resource-sharing/dist/main.js',
  'tunnel-gateway': 'apps/tunnel-gateway/dist/main.js',
  kernel: 'apps/proxy-gateway/dist/kernel.js',
  edge: 'apps/tunnel-gateway/dist/edge.js',
  'proxy-gateway worker': 'apps/proxy-gateway/dist/worker.js',
  'resource-sharing worker': 'apps/resource-sharing/dist/worker.js',
  'tunnel-gateway worker': 'apps/tunnel-gateway/dist/worker.js',
};
/** Many of them start at once. */
const START_MS = 180_000;
const STOP_MS = OPEN_MS + GRACE_MS + 15_000;

export interface CopyOptions {
  role: Role;
  index: number;
  /** Where clients come to it. */
  place: Place;
  /** Answers 200 while it is ready. */
  healthUrl: string;
  environment: (root: string) => NodeJS.ProcessEnv;
  /** Of its homes and its log. */
  folder: string;
}

/** One copy of a service, a worker, a kernel or an edge, as a program of its own. */
export class Copy {
  /** Where its build is. */
  root = '';
  private process: ServiceProcess | undefined;
  private starts = 0;
  private spawns = 0;
  private kills = 0;

  constructor(private readonly options: CopyOptions) {}

  get role(): Role {
    return this.options.role;
  }

  get index(): number {
    return this.options.index;
  }

  get name(): string {
    return `${this.options.role} ${this.options.index}`;
  }

  get place(): Place {
    return this.options.place;
  }

  /** How often it ended without being asked to. */
  get crashes(): number {
    return this.spawns - this.starts - this.kills;
  }

  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(this.options.healthUrl, { signal: AbortSignal.timeout(5_000) });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  }

  /** @param root the folder of a build. */
  async start(root: string): Promise<void> {
    const { role, environment, folder } = this.options;
    const file = this.name.replaceAll(' ', '-');
    const home = join(folder, file);
    mkdirSync(home, { recursive: true });
    this.root = root;
    this.starts += 1;
    this.process = new ServiceProcess({
      name: this.name,
      command: process.execPath,
      args: [join(root, PROGRAMS[role])],
      env: { PATH: process.env['PATH'], ...environment(root), GATEHOUSE_HOME: home },
      cwd: root,
      logFile: join(folder, `${file}.log`),
      notify: () => undefined,
      onSpawn: () => (this.spawns += 1),
      startTimeoutMs: START_MS,
    });
    await this.process.start();
  }

  /** As an orchestrator ends it. Resolves with whether it ended in time, by itself. */
  async stop(): Promise<boolean> {
    const since = performance.now();
    await this.process?.stop(STOP_MS);
    return performance.now() - since < STOP_MS;
  }

  /** Ends it at once, with all its processes. It is started again half a second later: resolves with whether it was. */
  async kill(): Promise<boolean> {
    const before = this.spawns;
    this.kills += 1;
    this.end();
    return eventuallyTrue(() => Promise.resolve(this.spawns > before));
  }

  /** The same where nobody waits for it. */
  end(): void {
    this.process?.killGroup();
  }
}
