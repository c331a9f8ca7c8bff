import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ROOT } from '../../bootstrap/layout.mjs';
import { LocalProcess } from '../staging/local-process.js';
import { started } from '../trials/started.js';
import { Copy } from './copy.js';
import { balancerEnvironment, environmentOf, type FleetSettings } from './environments.js';
import { NameServer } from './name-server.js';
import { ALL_ROLES, Places, ROLES, type Role, type Shape } from './places.js';
import { accepts } from './visits.js';

const SERVICES = ['proxy-gateway', 'resource-sharing', 'tunnel-gateway'] as const;
const LOOK_MS = 200;
const BALANCER_MS = 30_000;
const HAPROXY_CONFIG = 'deploy/haproxy/haproxy.cfg';

export interface FleetOptions {
  /** An empty folder. */
  home: string;
  /** Of an empty database. */
  databaseUrl: string;
  redisUrl: string | undefined;
  /** The program. */
  haproxy: string;
  shape: Shape;
  /** The build that copies are started from, and whose migrations are run first. */
  root: string;
  /** Lets through what the build of that folder knows. */
  accepted: (root: string, environment: NodeJS.ProcessEnv) => NodeJS.ProcessEnv;
}

/** Copies of everything behind haproxy, on one database. */
export class Fleet implements AsyncDisposable {
  readonly password = randomBytes(12).toString('hex');
  readonly copies: Copy[] = [];
  private readonly ready = new Set<Copy>();
  private readonly settings: FleetSettings;
  private names: NameServer | undefined;
  private balancer: LocalProcess | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** One look at all copies at a time: a busy machine would never be done with them. */
  private looking: Promise<void> | undefined;
  private readonly turns = new Map<Role, number>();

  private constructor(
    private readonly options: FleetOptions,
    readonly places: Places,
  ) {
    const { shape, databaseUrl, redisUrl } = options;
    const secretKey = randomBytes(32).toString('base64');
    this.settings = { places, shape, databaseUrl, redisUrl, secretKey, password: this.password };
    for (const role of ALL_ROLES) {
      for (let index = 1; index <= shape[role]; index += 1) this.copies.push(this.create(role, index));
    }
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(options, await Places.choose());
    return started(fleet, () => fleet.startAll());
  }

  of(role: Role): Copy[] {
    return this.copies.filter((copy) => copy.role === role);
  }

  isReady(copy: Copy): boolean {
    return this.ready.has(copy);
  }

  /** Those that are ready, in turn: what a load balancer for datagrams or a list of addresses does. */
  next(role: Role): Copy {
    const ready = this.of(role).filter((copy) => this.ready.has(copy));
    const turn = this.turns.get(role) ?? 0;
    this.turns.set(role, turn + 1);
    const copy = ready[turn % Math.max(1, ready.length)];
    if (copy === undefined) throw new Error(`no ${role} is ready`);
    return copy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.timer);
    for (const copy of this.copies) copy.kill();
    await Promise.all(this.copies.map((copy) => copy.stop()));
    await this.balancer?.stop();
    await this.names?.[Symbol.asyncDispose]();
  }

  private create(role: Role, index: number): Copy {
    const { places } = this;
    const { ports } = places;
    const host = places.address(role, index);
    const [port, health] = {
      'proxy-gateway': [ports.proxyGateway, `${ports.proxyGateway}/readyz`],
      'resource-sharing': [ports.resourceSharing, `${ports.resourceSharing}/readyz`],
      'tunnel-gateway': [ports.tunnelGateway, `${ports.tunnelGateway}/readyz`],
      kernel: [ports.kernel, `${ports.kernelHealth}/readyz`],
      edge: [ports.http, `${ports.edgeHealth}/healthz`],
    }[role] as [number, string];
    const { home, accepted } = this.options;
    return new Copy({
      role,
      index,
      place: { host, port },
      healthUrl: `http://${host}:${health}`,
      environment: (root) => accepted(root, environmentOf(role, index, this.settings)),
      folder: home,
    });
  }

  private async startAll(): Promise<void> {
    const { root, shape, haproxy, home } = this.options;
    this.timer = setInterval(() => {
      this.looking ??= this.look().finally(() => (this.looking = undefined));
    }, LOOK_MS);
    await this.migrate(root);
    await Promise.all([...this.of('kernel'), ...this.of('edge')].map((copy) => copy.start(root)));
    const names = new Map<string, string[]>(ALL_ROLES.map((role) => [ROLES[role], this.places.addresses(role, shape)]));
    this.names = await NameServer.start(this.places.front, names);
    this.balancer = new LocalProcess({
      name: 'haproxy',
      command: [haproxy, '-db', '-f', join(ROOT, HAPROXY_CONFIG)],
      environment: balancerEnvironment(this.places, `${this.names.address}:${this.names.port}`),
      logFile: join(home, 'haproxy.log'),
    });
    const { front, ports } = this.places;
    await this.balancer.healthy(() => accepts({ host: front, port: ports.kernel }), BALANCER_MS);
    // The first one of each makes what there is once, such as the first administrator.
    const services = SERVICES.map((service) => this.of(service));
    await Promise.all(services.flatMap((copies) => copies.slice(0, 1)).map((copy) => copy.start(root)));
    await Promise.all(services.flatMap((copies) => copies.slice(1)).map((copy) => copy.start(root)));
  }

  /** Runs the migrations of a build. Copies of an older one that run meanwhile have to live with what they add. */
  async migrate(root: string): Promise<void> {
    const { home, databaseUrl } = this.options;
    for (const service of SERVICES) {
      await new LocalProcess({
        name: `the migration of ${service}`,
        command: ['node', join(root, 'apps', service, 'dist/migrate.js')],
        environment: { NODE_ENV: 'production', DATABASE_URL: databaseUrl, GATEHOUSE_HOME: home, LOG_LEVEL: 'warn' },
        logFile: join(home, `${service}-migrate.log`),
      }).completed();
    }
  }

  private async look(): Promise<void> {
    await Promise.all(
      this.copies.map(async (copy) => {
        if (await copy.isReady()) this.ready.add(copy);
        else this.ready.delete(copy);
      }),
    );
  }
}
