import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../bootstrap/layout.mjs';
import { ADMINISTRATOR_PASSWORD, liftLimits, type Entrance, type Entrances } from '../replicas/replica-set.js';
import { LocalProcess } from '../staging/local-process.js';
import { serviceProgram } from '../supervisor/service-program.js';
import { started } from '../trials/started.js';
import { Copy } from './copy.js';
import { EdgeLines } from './edge-lines.js';
import { balancerEnvironment, environmentOf, type FleetSettings } from './environments.js';
import { NameServer } from './name-server.js';
import { ALL_ROLES, isWorker, Places, ROLES, SERVICES, type Role, type Service, type Shape } from './places.js';
import { accepts, type Place } from './visits.js';

const LOOK_MS = 500;
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
export class Fleet implements AsyncDisposable, Entrances {
  readonly password = ADMINISTRATOR_PASSWORD;
  readonly copies: Copy[] = [];
  private readonly ready = new Set<Copy>();
  private readonly settings: FleetSettings;
  private names: NameServer | undefined;
  private balancer: LocalProcess | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** One look at all copies at a time: a busy machine would not get done with them. */
  private looking: Promise<void> | undefined;
  private readonly turns = new Map<Role, number>();
  private readonly lines = new Map<string, EdgeLines>();

  private constructor(
    private readonly plan: FleetOptions,
    readonly places: Places,
  ) {
    const { shape, databaseUrl, redisUrl, home } = plan;
    const secretKey = randomBytes(32).toString('base64');
    const { password } = this;
    const certificates = join(home, 'certificates');
    mkdirSync(certificates, { mode: 0o700 });
    this.settings = { places, shape, databaseUrl, redisUrl, secretKey, password, certificates };
    for (const role of ALL_ROLES) {
      for (let index = 1; index <= shape[role]; index += 1) this.copies.push(this.create(role, index));
    }
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(options, await Places.choose(options.shape));
    return started(fleet, () => fleet.startAll());
  }

  /** What users of the APIs need to know of it. */
  get options(): Entrances['options'] {
    return { databaseUrl: this.plan.databaseUrl, services: SERVICES };
  }

  /** Where users come to the copies of a service: at haproxy. */
  of(service: Service): Entrance[] {
    return [{ service, url: this.places.url(service) }];
  }

  copiesOf(role: Role): Copy[] {
    return this.copies.filter((copy) => copy.role === role);
  }

  /** Where services and edges find the certificates of hosts. */
  get certificates(): string {
    return this.settings.certificates;
  }

  /** @throws Error where that copy is no edge */
  linesOf({ name }: Copy): EdgeLines {
    const lines = this.lines.get(name);
    if (lines === undefined) throw new Error(`${name} has no lines`);
    return lines;
  }

  isReady(copy: Copy): boolean {
    return this.ready.has(copy);
  }

  /** Places of those that are ready, each time another one first: a name with several addresses, looked up again and again. */
  inTurn(role: Role): Place[] {
    const ready = this.copiesOf(role).filter((copy) => this.ready.has(copy));
    if (ready.length === 0) throw new Error(`no ${role} is ready`);
    const turn = this.turns.get(role) ?? 0;
    this.turns.set(role, turn + 1);
    const first = turn % ready.length;
    return [...ready.slice(first), ...ready.slice(0, first)].map(({ place }) => place);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.timer);
    for (const copy of this.copies) copy.end();
    await Promise.all(this.copies.map((copy) => copy.stop()));
    await this.balancer?.stop();
    await this.names?.[Symbol.asyncDispose]();
    for (const lines of this.lines.values()) await lines[Symbol.asyncDispose]();
  }

  private create(role: Role, index: number): Copy {
    const { home, accepted } = this.plan;
    return new Copy({
      role,
      index,
      place: this.places.placeOf(role, index),
      healthUrl: this.places.healthUrlOf(role, index),
      environment: (root) => accepted(root, this.environmentOf(role, index)),
      folder: home,
    });
  }

  private environmentOf(role: Role, index: number): NodeJS.ProcessEnv {
    return environmentOf(role, index, this.settings, this.lines.get(`${role} ${index}`)?.databaseUrl);
  }

  private async startAll(): Promise<void> {
    const { root, shape, haproxy, home, databaseUrl } = this.plan;
    this.timer = setInterval(() => {
      this.looking ??= this.look().finally(() => (this.looking = undefined));
    }, LOOK_MS);
    await this.migrate(root);
    for (let index = 1; index <= shape.edge; index += 1)
      this.lines.set(`edge ${index}`, await EdgeLines.start(this.places, index, databaseUrl));
    await Promise.all([...this.copiesOf('kernel'), ...this.copiesOf('edge')].map((copy) => copy.start(root)));
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
    const services = SERVICES.map((service) => this.copiesOf(service));
    await Promise.all(services.flatMap((copies) => copies.slice(0, 1)).map((copy) => copy.start(root)));
    const workers = this.copies.filter(({ role }) => isWorker(role));
    const others = [...services.flatMap((copies) => copies.slice(1)), ...workers];
    await Promise.all(others.map((copy) => copy.start(root)));
    await liftLimits(databaseUrl);
  }

  /** Runs the migrations of a build. Copies of an older one that run meanwhile have to live with what they add. */
  async migrate(root: string): Promise<void> {
    const { home, databaseUrl } = this.plan;
    for (const service of SERVICES) {
      await new LocalProcess({
        name: `the migration of ${service}`,
        command: ['node', serviceProgram(service, 'migrate', root)],
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
