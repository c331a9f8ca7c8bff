import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ChallengeAnswer } from './acme-order.js';

/** Every edge has read what is told in far less. */
const SPREAD_MS = 1_000;

const SHOW = `
  INSERT INTO tunnel_gateway_ops.acme_challenges (token, type, name, key_authorization, expires_at)
  VALUES ($1, $2, $3, $4, now() + interval '1 hour')
  ON CONFLICT (token) DO UPDATE SET
    type = EXCLUDED.type, name = EXCLUDED.name, key_authorization = EXCLUDED.key_authorization,
    expires_at = EXCLUDED.expires_at`;

/** Where the edges see what they have to answer authorities. */
@Injectable()
export class ChallengeBoard {
  constructor(private readonly dataSource: DataSource) {}

  /** Resolves when the edges have it; the function takes it down. */
  async show({ token, type, name, keyAuthorization }: ChallengeAnswer): Promise<() => Promise<void>> {
    await this.dataSource.query(SHOW, [token, type, name, keyAuthorization]);
    await delay(SPREAD_MS);
    return async () => {
      await this.dataSource.query('DELETE FROM tunnel_gateway_ops.acme_challenges WHERE token = $1', [token]);
    };
  }

  /** Of orders whose process died. */
  async clear(): Promise<void> {
    await this.dataSource.query('DELETE FROM tunnel_gateway_ops.acme_challenges WHERE expires_at < now()');
  }
}
