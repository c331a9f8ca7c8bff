import { ROOT } from '../../bootstrap/layout.mjs';
import { OwnPostgres } from '../trials/own-postgres.js';
import { RedisProcess } from '../trials/redis-process.js';
import { started } from '../trials/started.js';
import { Books } from './books.js';
import { knownSettings } from './known-settings.js';
import { Fleet } from './fleet.js';
import type { Shape } from './places.js';
import { PlatformLoad } from './platform-load.js';
import { replaceAgent, replaceCopy, type Replacement } from './replace.js';
import { scaleFaults, type FaultStage } from './scale-faults.js';
import { tryFault, type FaultReport } from './try-fault.js';

export interface ScaleOptions {
  /** An empty folder that PostgreSQL's account can reach. */
  home: string;
  haproxy: string;
  /** Absent: queues are in PostgreSQL. */
  redisProgram: string | undefined;
  shape: Shape;
  /** See {@link UserStreams}. */
  slowness: number;
  /** The build that everything is started from; then each process is replaced by one of this build. */
  previous?: string | undefined;
  /** How far it is. */
  say: (line: string) => void;
}

/** PostgreSQL, Redis, haproxy, copies of everything, and users. */
export class ScaleStage implements AsyncDisposable, FaultStage {
  private readonly resources = new AsyncDisposableStack();
  fleet!: Fleet;
  load!: PlatformLoad;
  postgres!: OwnPostgres;
  redis: RedisProcess | undefined;
  private books!: Books;

  private constructor(private readonly options: ScaleOptions) {}

  static async open(options: ScaleOptions): Promise<ScaleStage> {
    const stage = new ScaleStage(options);
    return started(stage, () => stage.start());
  }

  /** What users notice while each process of which there are several is replaced, and each agent, one after the other. */
  async *replaceAll(isChosen: (name: string) => boolean): AsyncGenerator<Replacement> {
    const { options, fleet, load, books } = this;
    books.begin();
    for (const copy of fleet.copies.filter(({ role, name }) => options.shape[role] > 1 && isChosen(name)))
      yield await replaceCopy(fleet, load, copy, ROOT);
    for (const index of load.agentCopies.indexes.filter((at) => isChosen(`agent ${at + 1}`)))
      yield await replaceAgent(load, index, ROOT);
  }

  /** What users notice of each fault, one after the other. */
  async *harmAll(isChosen: (name: string) => boolean): AsyncGenerator<FaultReport> {
    const faults = scaleFaults(this).filter(({ name }) => isChosen(name));
    for (const fault of faults) yield await tryFault(this.load, this.books, fault);
  }

  /** Ends the load: what counters and ledger do not have as it was. */
  settle(): Promise<string[]> {
    return this.books.settle();
  }

  /** What users saw go wrong, the first few. */
  get failures(): readonly string[] {
    return this.load.streams.failures;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resources.disposeAsync();
  }

  private async start(): Promise<void> {
    const { home, haproxy, redisProgram, shape, slowness, previous = ROOT, say } = this.options;
    say('starting PostgreSQL and Redis ...');
    this.postgres = this.resources.use(await OwnPostgres.start(home));
    this.redis = redisProgram === undefined ? undefined : await RedisProcess.start(redisProgram, home);
    this.resources.defer(async () => this.redis?.stop());
    say('starting copies of the services, their workers, the kernel and the edge, and haproxy ...');
    this.fleet = this.resources.use(
      await Fleet.start({
        home,
        haproxy,
        shape,
        databaseUrl: this.postgres.url,
        redisUrl: this.redis && `redis://127.0.0.1:${this.redis.port}`,
        root: previous,
        accepted: knownSettings,
      }),
    );
    say('starting the load ...');
    this.load = this.resources.use(await PlatformLoad.begin(this.fleet, { home, root: previous, slowness }));
    this.books = this.resources.use(await Books.open(this.fleet, this.load));
    if (previous === ROOT) return;
    say('running the new migrations under the load ...');
    await this.fleet.migrate(ROOT);
  }
}
