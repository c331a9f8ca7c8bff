import { pgPool } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

const TRY = `SELECT pg_try_advisory_lock(hashtextextended($1, 1763668802150)) AS free`;
const UNLOCK = `SELECT pg_advisory_unlock(hashtextextended($1, 1763668802150))`;

/** Allows one order for a name at a time, over all processes; if one dies, the database releases its lock. */
@Injectable()
export class NameLock {
  constructor(private readonly dataSource: DataSource) {}

  /** Null if another process holds the lock. */
  async hold<T>(name: string, work: () => Promise<T>): Promise<T | null> {
    const client = await pgPool(this.dataSource).connect();
    let broken = false;
    const onError = (): void => void (broken = true);
    client.on('error', onError);
    try {
      const { rows } = await client.query<{ free: boolean }>(TRY, [name]).catch((error: unknown) => {
        // It is unknown whether the lock is still held.
        onError();
        throw error;
      });
      if (rows[0]?.free !== true) return null;
      try {
        return await work();
      } finally {
        await client.query(UNLOCK, [name]).catch(onError);
      }
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }
}
