import { hash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, writePrivate } from '@gatehouse/net';
import { afterCommit } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { TunnelGatewaySettings } from '../settings.js';

const FILE = 'setup-token.txt';
const LIFETIME = '24 hours';

/** Tokens for creating the first administrator: in a file for the operator, as a hash in the database. */
@Injectable()
export class SetupTokens {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: TunnelGatewaySettings,
  ) {}

  /** Creates this process's token; other replicas have their own. Resolves to its file, mode 0600. */
  async issue(): Promise<string> {
    const token = `gst_${randomBytes(24).toString('base64url')}`;
    const insert = 'INSERT INTO setup_tokens (token_hash, expires_at) VALUES ($1, now() + $2::interval)';
    await this.dataSource.query('DELETE FROM setup_tokens WHERE expires_at < now()');
    await this.dataSource.query(insert, [hashOf(token), LIFETIME]);
    makePrivateFolder(this.settings.home);
    writePrivate(this.file, `${token}\n`);
    return this.file;
  }

  async accepts(token: string, tx: EntityManager): Promise<boolean> {
    const sql = 'SELECT 1 FROM setup_tokens WHERE token_hash = $1 AND expires_at > now()';
    const found = await tx.query<unknown[]>(sql, [hashOf(token)]);
    return found.length > 0;
  }

  /** The first administrator exists: all tokens become invalid. */
  async end(tx: EntityManager): Promise<void> {
    await tx.query('DELETE FROM setup_tokens');
    afterCommit(tx, () => rmSync(this.file, { force: true }));
  }

  private get file(): string {
    return join(this.settings.home, FILE);
  }
}

function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
