import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@gatehouse/persistence';
import { ROOT } from '../../bootstrap/layout.mjs';
import { RedisProcess } from '../trials/redis-process.js';
import { started } from '../trials/started.js';
import { knownSettings } from './known-settings.js';
import { Fleet } from './fleet.js';
import type { Shape } from './places.js';
import { PlatformLoad } from './platform-load.js';
import { replaceAgent, replaceCopy, type Replacement } from './replace.js';

export interface ScaleOptions {
  /** An empty folder that PostgreSQL's account can reach. */
  home: string;
  haproxy: string;
  /** Absent: queues are in PostgreSQL. */
  redisProgram: string | undefined;
  shape: Shape;
  /** The build that everything is started from; then each process is replaced by one of this build. */
  previous?: string | undefined;
  /** How far it is. */
  say: (line: string) => void;
}

/** PostgreSQL, Redis, haproxy, copies of everything, and users. */
export class ScaleStage implements AsyncDisposable {
  private readonly resources = new AsyncDisposableStack();
  private fleet!: Fleet;
  private load!: PlatformLoad;

  private constructor(private readonly options: ScaleOptions) {}

  static async open(options: ScaleOptions): Promise<ScaleStage> {
    const stage = new ScaleStage(options);
    return started(stage, () => stage.start());
  }

  /** What users notice while each process of which there are several is replaced, one after the other. */
  async *replaceAll(): AsyncGenerator<Replacement> {
    const { shape } = this.options;
    const several = this.fleet.copies.filter(({ role }) => shape[role] > 1);
    for (const copy of several) yield await replaceCopy(this.fleet, this.load, copy, ROOT);
  }

  /** The same for the agents. */
  async *replaceAgents(): AsyncGenerator<Replacement> {
    for (const index of this.load.agentCopies.indexes) yield await replaceAgent(this.load, index, ROOT);
  }

  /** What users saw go wrong, the first few. */
  get failures(): readonly string[] {
    return this.load.failures;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resources.disposeAsync();
  }

  private async start(): Promise<void> {
    const { home, haproxy, redisProgram, shape, previous = ROOT, say } = this.options;
    say('starting PostgreSQL and Redis ...');
    const postgres = await startPostgres(home);
    this.resources.defer(() => postgres.stop());
    const redis = redisProgram === undefined ? undefined : await RedisProcess.start(redisProgram, home);
    this.resources.defer(async () => redis?.stop());
    say('starting copies of the services, the kernel and the edge, and haproxy ...');
    this.fleet = this.resources.use(
      await Fleet.start({
        home,
        haproxy,
        shape,
        databaseUrl: postgres.url(),
        redisUrl: redis && `redis://127.0.0.1:${redis.port}`,
        root: previous,
        accepted: knownSettings,
      }),
    );
    say('starting the load ...');
    this.load = this.resources.use(await PlatformLoad.begin(this.fleet, previous));
    if (previous === ROOT) return;
    say('running the new migrations under the load ...');
    await this.fleet.migrate(ROOT);
  }
}

async function startPostgres(home: string): Promise<EmbeddedPostgres> {
  const folder = join(home, 'postgres');
  mkdirSync(folder, { mode: 0o711 });
  return startEmbeddedPostgres({ home: folder });
}
