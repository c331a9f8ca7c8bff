import type { WindowCounter, WindowState } from './fixed-window.js';

/** The one command that is needed, as ioredis has it. */
export interface RedisScriptClient {
  eval(script: string, keys: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

/** One script, so that a crash between counting and setting the lifetime cannot leave a key that never ends. */
const HIT = `local hits = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return {hits, left}`;

/** Windows in Redis, shared by all replicas. */
export class RedisWindowCounter implements WindowCounter {
  private readonly client: RedisScriptClient;
  private readonly prefix: string;

  constructor(client: RedisScriptClient, prefix: string) {
    this.client = client;
    this.prefix = prefix;
  }

  async hit(key: string, windowMs: number): Promise<WindowState> {
    const answer = await this.client.eval(HIT, 1, `${this.prefix}${key}`, windowMs);
    const [hits, remainingMs] = answer as [number, number];
    return { hits, remainingMs };
  }
}
