import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ChallengeAnswer } from './acme-order.js';

/** Time for the other edges after the first one has confirmed. */
const SPREAD_MS = 1_000;
const LOOK_MS = 100;
/** An edge checks every 10 s even if a notification does not reach it. */
const LONGEST_WAIT_MS = 12_000;

const CONFIRMED = `SELECT 1 FROM tunnel_gateway_ops.acme_challenges WHERE token = $1 AND served_at IS NOT NULL`;

const SHOW = `
  INSERT INTO tunnel_gateway_ops.acme_challenges (token, type, name, key_authorization, expires_at)
  VALUES ($1, $2, $3, $4, now() + interval '1 hour')
  ON CONFLICT (token) DO UPDATE SET
    type = EXCLUDED.type, name = EXCLUDED.name, key_authorization = EXCLUDED.key_authorization,
    expires_at = EXCLUDED.expires_at, served_at = NULL`;

/** Publishes challenge answers to the edges. */
@Injectable()
export class ChallengeBoard {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Resolves when the edges serve the answer, or after 12 s: then the authority reports what is wrong. The returned
   * function removes it.
   */
  async show({ token, type, name, keyAuthorization }: ChallengeAnswer): Promise<() => Promise<void>> {
    await this.dataSource.query(SHOW, [token, type, name, keyAuthorization]);
    await this.confirmed(token);
    await delay(SPREAD_MS);
    return async () => {
      await this.dataSource.query('DELETE FROM tunnel_gateway_ops.acme_challenges WHERE token = $1', [token]);
    };
  }

  private async confirmed(token: string): Promise<void> {
    const deadline = performance.now() + LONGEST_WAIT_MS;
    while (performance.now() < deadline) {
      if ((await this.dataSource.query<unknown[]>(CONFIRMED, [token])).length > 0) return;
      await delay(LOOK_MS);
    }
  }

  /** Removes answers of orders whose process died. */
  async clear(): Promise<void> {
    await this.dataSource.query('DELETE FROM tunnel_gateway_ops.acme_challenges WHERE expires_at < now()');
  }
}
