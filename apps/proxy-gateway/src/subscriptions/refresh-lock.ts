import { setTimeout as delay } from 'node:timers/promises';
import { pgPool } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { PoolClient, QueryResult } from 'pg';
import { DataSource } from 'typeorm';

const LOOK_MS = 100;
/** Longer than any refresh can take. */
const PATIENCE_MS = 1_000_000;
const TRY = `SELECT pg_try_advisory_lock(hashtextextended('proxy_gateway.refresh', $1)) AS free`;
const UNLOCK = `SELECT pg_advisory_unlock(hashtextextended('proxy_gateway.refresh', $1))`;

/** The connection that holds this process's locks. */
interface Holder {
  client: Promise<PoolClient>;
  /** The last of its statements, since a connection runs one at a time. */
  last: Promise<unknown>;
  locks: number;
  broken: boolean;
  readonly onError: () => void;
}

/**
 * Allows one refresh of a subscription at a time over all processes. One connection holds all locks of a process and is
 * returned to the pool when none is held. If the process dies, the database releases them.
 */
@Injectable()
export class RefreshLock {
  private readonly turns = new Map<number, Promise<unknown>>();
  private current: Holder | null = null;

  constructor(private readonly dataSource: DataSource) {}

  /** Runs the work while holding the lock; `waited` says whether another refresh had to end first. */
  run<T>(id: number, work: (waited: boolean) => Promise<T>): Promise<T> {
    const before = this.turns.get(id);
    const run = (before ?? Promise.resolve()).then(() => this.locked(id, before !== undefined, work));
    const turn: Promise<unknown> = run
      .catch(() => undefined)
      .finally(() => {
        if (this.turns.get(id) === turn) this.turns.delete(id);
      });
    this.turns.set(id, turn);
    return run;
  }

  private async locked<T>(id: number, waitedHere: boolean, work: (waited: boolean) => Promise<T>): Promise<T> {
    const holder = this.holder();
    holder.locks++;
    try {
      const waited = await wait(holder, id);
      try {
        return await work(waited || waitedHere);
      } finally {
        // A broken connection has already released its locks.
        await ask(holder, UNLOCK, id).catch(() => this.abandon(holder));
      }
    } finally {
      holder.locks--;
      await this.giveBack(holder);
    }
  }

  private holder(): Holder {
    if (this.current) return this.current;
    const client = pgPool(this.dataSource).connect();
    const holder: Holder = {
      client,
      last: Promise.resolve(),
      locks: 0,
      broken: false,
      onError: () => this.abandon(holder),
    };
    client.then((connection) => connection.on('error', holder.onError), holder.onError);
    this.current = holder;
    return holder;
  }

  /** Drops the connection, so that the next lock uses another one. */
  private abandon(holder: Holder): void {
    holder.broken = true;
    if (this.current === holder) this.current = null;
  }

  private async giveBack(holder: Holder): Promise<void> {
    if (holder.locks > 0) return;
    if (this.current === holder) this.current = null;
    const client = await holder.client.catch(() => null);
    // Only our own listener: an idle connection needs the one of the pool.
    client?.removeListener('error', holder.onError);
    client?.release(holder.broken);
  }
}

async function wait(holder: Holder, id: number): Promise<boolean> {
  const until = performance.now() + PATIENCE_MS;
  for (let waited = false; ; waited = true) {
    const { rows } = await ask(holder, TRY, id);
    if (rows[0]?.free === true) return waited;
    if (performance.now() > until) throw new Error(`Another refresh of subscription ${id} does not end.`);
    await delay(LOOK_MS);
  }
}

function ask(holder: Holder, statement: string, id: number): Promise<QueryResult<{ free?: boolean }>> {
  const answer = holder.last.then(async () => {
    const client = await holder.client;
    return client.query<{ free?: boolean }>(statement, [id]);
  });
  holder.last = answer.catch(() => undefined);
  return answer;
}
