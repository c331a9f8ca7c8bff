import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres, type EmbeddedPostgres, type StoredData } from '@gatehouse/persistence';
import { loadStoredData } from '../database/stored-data.js';
import { RedisProcess } from '../trials/redis-process.js';
import { Carrier } from './carrier.js';
import { brokenChain, brokenData } from './invariants.js';
import { Load, type Work } from './load.js';
import { administratorOf, siteAdministrator } from './people.js';
import { ProxyWork } from './proxy-work.js';
import { AnswerBook } from './replica-client.js';
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
}

/** A Redis and one that copies it, behind one port. */
export interface RedisPair {
  way: Carrier;
  first: RedisProcess;
  second: RedisProcess;
}

/** Two replicas of every service on a PostgreSQL and a Redis of their own, and people at work. */
export class ReplicaStage implements AsyncDisposable {
  readonly book = new AnswerBook();
  set!: ReplicaSet;
  administrators!: Administrators;
  redis: RedisPair | undefined;
  private postgres!: EmbeddedPostgres;
  private stored: StoredData[] = [];
  private works: (Work & { close?: () => Promise<void> })[] = [];
  private load: Load | undefined;

  private constructor(readonly home: string) {}

  static async open({ home, redisProgram }: StageOptions): Promise<ReplicaStage> {
    const stage = new ReplicaStage(home);
    try {
      await stage.start(redisProgram);
      return stage;
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
  }

  get databaseUrl(): string {
    return this.postgres.url();
  }

  begin(): void {
    this.load = new Load(this.works, PEOPLE_EACH);
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

  private async start(redisProgram: string | undefined): Promise<void> {
    this.stored = await loadStoredData();
    mkdirSync(join(this.home, 'postgres'), { mode: 0o711 });
    this.postgres = await startEmbeddedPostgres({ home: join(this.home, 'postgres') });
    if (redisProgram !== undefined) this.redis = await startRedisPair(redisProgram, this.home);
    this.set = await ReplicaSet.start({
      databaseUrl: this.databaseUrl,
      home: this.home,
      services: SERVICE_NAMES,
      redisUrl: this.redis && `redis://127.0.0.1:${this.redis.way.port}`,
    });
    const { book, set } = this;
    this.administrators = {
      proxy: await administratorOf(set, book, 'proxy-gateway'),
      site: await siteAdministrator(set, book),
      tunnel: await administratorOf(set, book, 'tunnel-gateway'),
    };
    this.works = [
      await SharingWork.prepare(set, this.administrators.site),
      await ProxyWork.prepare(set, this.administrators.proxy),
      await TunnelWork.prepare(set, this.administrators.tunnel),
    ];
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
