import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startEmbeddedPostgres, withClient, type EmbeddedPostgresOptions } from '@gatehouse/persistence';
import { findPeer, PeerMissingError } from './redis-server.js';
import { temporaryRoot } from './temporary-root.js';

/** Where a PostgreSQL among the peers is, such as `postgres-14`. Raises PeerMissingError. */
export function postgresBinaries(program: string): NonNullable<EmbeddedPostgresOptions['binaries']> {
  const file = findPeer(program);
  const major = Number(/^postgres-(\d+)$/.exec(program)?.[1]);
  if (file === undefined || Number.isNaN(major)) throw new PeerMissingError(`${program} not found: npm run peers`);
  return { native: dirname(dirname(realpathSync(file))), packageVersion: program, major };
}

export interface PostgresServer extends AsyncDisposable {
  /** Connection string of a database whose owner is an ordinary role, as an operator would make it. */
  url: string;
  /** The same database for the superuser. */
  adminUrl: string;
  port: number;
  close(): Promise<void>;
}

export interface PostgresServerOptions {
  /** A peer, such as `postgres-14`; the embedded one by default. */
  program?: string | undefined;
  parameters?: Record<string, string>;
}

/** Starts a PostgreSQL of its own on a free loopback port, in a folder that goes away with it. */
export async function startPostgres({ program, parameters }: PostgresServerOptions = {}): Promise<PostgresServer> {
  const home = mkdtempSync(join(temporaryRoot(), 'gatehouse-postgres-'));
  // As root the server runs as another user, which has to pass through.
  chmodSync(home, 0o711);
  const server = await startEmbeddedPostgres({
    home,
    durable: false,
    ...(program !== undefined && { binaries: postgresBinaries(program) }),
    ...(parameters && { parameters }),
  });
  const close = async (): Promise<void> => {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await withClient(server.url('postgres'), async (client) => {
      await client.query(`CREATE ROLE operator LOGIN PASSWORD 'of the operator'`);
      await client.query('CREATE DATABASE platform OWNER operator');
    });
  } catch (error) {
    await close();
    throw error;
  }
  const url = `postgres://operator:of%20the%20operator@127.0.0.1:${server.port}/platform`;
  return { url, adminUrl: server.url('platform'), port: server.port, close, [Symbol.asyncDispose]: close };
}
