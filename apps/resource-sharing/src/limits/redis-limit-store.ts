import { JsonLogger, redisOptions } from '@gatehouse/platform';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { ResourceSharingSettings } from '../settings.js';
import { LimitStore, type Admission, type QuotaRequest, type TokenAnswer, type TokenRequest } from './limit-store.js';

/** Microseconds by the clock of Redis. Numbers are returned as text, because Redis cuts fractions off. */
const TAKE = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local all = ARGV[1] == '1'
local starts, rooms, refused = {}, {}, false
for i, key in ipairs(KEYS) do
  local step, burst, cost = tonumber(ARGV[i * 3 - 1]), tonumber(ARGV[i * 3]), tonumber(ARGV[i * 3 + 1])
  local start = math.max(tonumber(redis.call('GET', key) or '0'), now)
  local room = math.max(0, math.floor(burst + 0.000001 - (start - now) / step))
  starts[i], rooms[i] = start, room
  if room < cost then refused = true end
end
local answer = {}
for i, key in ipairs(KEYS) do
  local step, cost = tonumber(ARGV[i * 3 - 1]), tonumber(ARGV[i * 3 + 1])
  local granted = math.min(rooms[i], cost)
  if all and refused then granted = 0 end
  local tat = starts[i] + granted * step
  if granted > 0 then
    redis.call('SET', key, string.format('%.0f', tat), 'PX', math.ceil((tat - now) / 1000) + 1)
  end
  answer[i] = granted .. ' ' .. rooms[i] .. ' ' .. string.format('%.0f', tat - now)
end
return answer`;

/** The reverse: one step back for each key. An expired key has nothing to return. */
const GIVE_BACK = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
for i, key in ipairs(KEYS) do
  local tat = tonumber(redis.call('GET', key) or '0') - tonumber(ARGV[i])
  if tat > now then
    redis.call('SET', key, string.format('%.0f', tat), 'PX', math.ceil((tat - now) / 1000) + 1)
  else
    redis.call('DEL', key)
  end
end`;

/** The only command needed, in the form of ioredis. */
export interface RedisScriptClient {
  eval(script: string, keys: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

/** Tokens in Redis: one script for any number of keys. */
export class RedisLimitStore extends LimitStore {
  private readonly client: RedisScriptClient;
  private readonly reserve: (quota: QuotaRequest) => Promise<number | undefined>;

  /** `reserve`: quotas are still kept in the database. */
  constructor(client: RedisScriptClient, reserve: (quota: QuotaRequest) => Promise<number | undefined>) {
    super();
    this.client = client;
    this.reserve = reserve;
  }

  async take(requests: readonly TokenRequest[], all: boolean): Promise<TokenAnswer[]> {
    const keys = requests.map(storedKey);
    const values = requests.flatMap(({ intervalMs, burst, cost }) => [intervalMs * 1_000, burst, cost]);
    const answer = (await this.client.eval(TAKE, keys.length, ...keys, all ? 1 : 0, ...values)) as string[];
    return answer.map((line) => {
      const [granted = 0, room = 0, ahead = 0] = line.split(' ').map(Number);
      return { granted, room, aheadMs: ahead / 1_000 };
    });
  }

  async admit(requests: readonly TokenRequest[], quota: QuotaRequest | undefined): Promise<Admission> {
    const tokens = requests.length === 0 ? [] : await this.take(requests, true);
    if (quota === undefined || tokens.some(({ granted }) => granted === 0)) return { tokens, exceeded: undefined };
    let exceeded: number | undefined = -1;
    try {
      exceeded = await this.reserve(quota);
    } finally {
      if (exceeded !== undefined) await this.giveBack(requests);
    }
    if (exceeded === undefined) return { tokens, exceeded };
    return { tokens: tokens.map((answer, index) => undone(answer, requests[index])), exceeded };
  }

  /** Never rejects: tokens that cannot be returned come back with time. */
  private async giveBack(requests: readonly TokenRequest[]): Promise<void> {
    if (requests.length === 0) return;
    const steps = requests.map(({ intervalMs }) => intervalMs * 1_000);
    await this.client.eval(GIVE_BACK, requests.length, ...requests.map(storedKey), ...steps).catch(() => undefined);
  }
}

function storedKey({ key }: TokenRequest): string {
  return `resource-sharing:limit:${key}`;
}

/** The state of a key after its token was returned. */
function undone({ room, aheadMs }: TokenAnswer, request: TokenRequest | undefined): TokenAnswer {
  return { granted: 0, room, aheadMs: Math.max(0, aheadMs - (request?.intervalMs ?? 0)) };
}

const RETRY_MS = 2_000;

/** The connection to Redis, where REDIS_URL names one. */
@Injectable()
export class LimitRedis implements OnApplicationShutdown {
  readonly client: Redis | undefined;

  constructor(settings: ResourceSharingSettings, logger: JsonLogger) {
    if (settings.redisUrl === undefined) return;
    this.client = new Redis(settings.redisUrl, {
      ...redisOptions(settings),
      connectionName: 'resource-sharing-limits',
      // The answer to a current request is of no use later.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(attempt * 100, RETRY_MS),
    });
    this.client.on('error', (error: Error) => logger.warn('Redis of the limits failed', { error }, 'LimitRedis'));
  }

  onApplicationShutdown(): void {
    this.client?.disconnect();
  }
}
