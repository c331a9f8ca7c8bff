import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredData } from '@gatehouse/persistence';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@gatehouse/persistence/server';
import { loadStoredData } from '../database/stored-data.js';
import { Chance } from '../trials/chance.js';
import type { Clock } from '../trials/clock.js';
import { RedisProcess } from '../trials/redis-process.js';
import { started } from '../trials/started.js';
import { Carrier } from './carrier.js';
import { brokenChain, brokenData } from './invariants.js';
import { Load, type Work } from './load.js';
import { administratorOf, siteAdministrator } from './people.js';
import { ProxyWork } from './proxy-work.js';
import { AnswerLog } from './replica-client.js';
import { ReplicaSet, SERVICE_NAMES } from './replica-set.js';
import { SharingWork } from './sharing-work.js';
import type { Administrators } from './shared-view.js';
import { TunnelWork } from './tunnel-work.js';

const PEOPLE_EACH = 3;

export interface StageOptions {
  /** An empty folder that PostgreSQL's account can reach. */
  home: string;
  /** Absent: queues are in PostgreSQL. */
  redisProgram?: string | undefined;
  /** The clock of the services and PostgreSQL; Redis does not start under libfaketime. Absent: the machine's. */
  clock?: Clock | undefined;
  /** Decides what people do. */
  seed: number;
}

/** A Redis and one that copies it, behind one port. */
export interface RedisPair {
  way: Carrier;
  first: RedisProcess;
  second: RedisProcess;
}

/** Two replicas of every service on a PostgreSQL and a Redis of their own, and people at work. */
export class ReplicaStage implements AsyncDisposable {
  readonly answerLog = new AnswerLog();
  set!: ReplicaSet;
  administrators!: Administrators;
  redis: RedisPair | undefined;
  private postgres!: EmbeddedPostgres;
  private stored: StoredData[] = [];
  private works: (Work & { close?: () => Promise<void> })[] = [];
  private load: Load | undefined;
  private readonly chance: Chance;

  private constructor(private readonly options: StageOptions) {
    this.chance = new Chance(options.seed);
  }

  static async open(options: StageOptions): Promise<ReplicaStage> {
    const stage = new ReplicaStage(options);
    return started(stage, () => stage.start());
  }

  get home(): string {
    return this.options.home;
  }

  /** Undefined: the machine's. */
  get clock(): Clock | undefined {
    return this.options.clock;
  }

  get databaseUrl(): string {
    return this.postgres.url();
  }

  begin(): void {
    this.load = new Load(this.works, PEOPLE_EACH, this.chance);
  }

  /** Ends the load and says what does not hold. */
  async settle(): Promise<string[]> {
    await this.load?.stop();
    const failures = this.load?.failures ?? [];
    this.load = undefined;
    const broken = [...failures];
    for (const work of this.works) {
      broken.push(...(await work.brokenPromises()).map((promise) => `${work.name}: ${promise}`));
    }
    const { proxy, site, tunnel } = this.administrators;
    broken.push(...(await brokenData(this.set, this.stored)));
    for (const administrator of [proxy, tunnel]) broken.push(...(await brokenChain(administrator, '/api/v1')));
    broken.push(...(await brokenChain(site, '/api/site/admin')));
    return broken;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.load?.stop();
    for (const work of this.works) await work.close?.();
    await this.set?.[Symbol.asyncDispose]();
    await this.redis?.way[Symbol.asyncDispose]();
    await this.redis?.first.stop();
    await this.redis?.second.stop();
    await this.postgres?.stop();
  }

  private async start(): Promise<void> {
    const { home, redisProgram, clock } = this.options;
    this.stored = await loadStoredData();
    mkdirSync(join(home, 'postgres'), { mode: 0o711 });
    this.postgres = await inEnvironment(clock?.environment ?? {}, () =>
      startEmbeddedPostgres({ home: join(home, 'postgres') }),
    );
    if (redisProgram !== undefined) this.redis = await startRedisPair(redisProgram, home);
    this.set = await ReplicaSet.start({
      databaseUrl: this.databaseUrl,
      home,
      services: SERVICE_NAMES,
      environment: clock?.environment,
      redisUrl: this.redis && `redis://127.0.0.1:${this.redis.way.port}`,
    });
    const { answerLog, set } = this;
    this.administrators = {
      proxy: await administratorOf(set, answerLog, 'proxy-gateway'),
      site: await siteAdministrator(set, answerLog),
      tunnel: await administratorOf(set, answerLog, 'tunnel-gateway'),
    };
    this.works = [
      await SharingWork.prepare(set, this.administrators.site),
      await ProxyWork.prepare(set, this.administrators.proxy, new Chance(this.chance.below(2 ** 31))),
      await TunnelWork.prepare(set, this.administrators.tunnel),
    ];
  }
}

/** Children that are started meanwhile have these variables, too. */
async function inEnvironment<T>(variables: NodeJS.ProcessEnv, work: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  try {
    return await work();
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

async function startRedisPair(program: string, home: string): Promise<RedisPair> {
  const [one, other] = [join(home, 'redis-1'), join(home, 'redis-2')];
  for (const folder of [one, other]) mkdirSync(folder);
  const first = await RedisProcess.start(program, one);
  const second = await RedisProcess.start(program, other);
  await second.command(`REPLICAOF 127.0.0.1 ${first.port}`);
  const way = await Carrier.start({ host: '127.0.0.1', port: first.port });
  return { way, first, second };
}
