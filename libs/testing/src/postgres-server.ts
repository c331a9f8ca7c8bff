import { chmodSync, chownSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  startEmbeddedPostgres,
  withClient,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from '@gatehouse/persistence';
import { findPeer, PeerMissingError } from './redis-server.js';
import { temporaryRoot } from './temporary-root.js';
import { waitFor } from './wait-for.js';

/** Where a PostgreSQL among the peers is, such as `postgres-14`. @throws PeerMissingError */
export function postgresBinaries(program: string): NonNullable<EmbeddedPostgresOptions['binaries']> {
  const file = findPeer(program);
  const major = Number(/^postgres-(\d+)$/.exec(program)?.[1]);
  if (file === undefined || Number.isNaN(major)) throw new PeerMissingError(`${program} not found: npm run peers`);
  return { native: dirname(dirname(realpathSync(file))), packageVersion: program, major };
}

export interface PostgresServer extends AsyncDisposable {
  /** Connection string of a database whose owner is an ordinary role, as an operator would make it. */
  url: string;
  port: number;
  close(): Promise<void>;
}

export interface PostgresServerOptions {
  /** A peer, such as `postgres-14`; the embedded one by default. */
  program?: string | undefined;
  /** PEM texts: the server speaks TLS, and lets the ordinary role in over TLS only. */
  tls?: { certificate: string; key: string };
  /** Connections that the ordinary role may have at once; without it as many as the server has. */
  connectionLimit?: number;
}

const ROLE = 'operator';

/** Starts a PostgreSQL of its own on a free loopback port, in a folder that goes away with it. */
export async function startPostgres({
  program,
  tls,
  connectionLimit = -1,
}: PostgresServerOptions = {}): Promise<PostgresServer> {
  const home = mkdtempSync(join(temporaryRoot(), 'gatehouse-postgres-'));
  // As root the server runs as another user, which has to pass through.
  chmodSync(home, 0o711);
  const binaries = program === undefined ? {} : { binaries: postgresBinaries(program) };
  const server = await startEmbeddedPostgres({ home, durable: false, ...binaries });
  const close = async (): Promise<void> => {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await withClient(server.url('postgres'), async (client) => {
      await client.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'of the operator' CONNECTION LIMIT ${connectionLimit}`);
      await client.query(`CREATE DATABASE platform OWNER ${ROLE}`);
    });
    if (tls) await askForTls(server, tls);
  } catch (error) {
    await close();
    throw error;
  }
  const url = `postgres://${ROLE}:of%20the%20operator@127.0.0.1:${server.port}/platform`;
  return { url, port: server.port, close, [Symbol.asyncDispose]: close };
}

/** The server's defaults are `server.crt` and `server.key` of its data, which must be its own and nobody else's. */
async function askForTls(server: EmbeddedPostgres, tls: NonNullable<PostgresServerOptions['tls']>): Promise<void> {
  const { uid, gid } = statSync(server.dataDirectory);
  const access = [
    `hostssl all ${ROLE} 127.0.0.1/32 scram-sha-256`,
    `host all ${ROLE} all reject`,
    'host all all 127.0.0.1/32 scram-sha-256',
  ];
  const files = { 'server.crt': tls.certificate, 'server.key': tls.key, 'pg_hba.conf': `${access.join('\n')}\n` };
  for (const [name, text] of Object.entries(files)) {
    const file = join(server.dataDirectory, name);
    writeFileSync(file, text, { mode: 0o600 });
    chmodSync(file, 0o600);
    chownSync(file, uid, gid);
  }
  await withClient(server.url('postgres'), async (client) => {
    await client.query('ALTER SYSTEM SET ssl = on');
    await client.query('SELECT pg_reload_conf()');
  });
  await waitFor(() =>
    withClient(server.url('postgres'), async (client) => {
      const { rows } = await client.query<{ ssl: string }>('SHOW ssl');
      return rows[0]?.ssl === 'on';
    }),
  );
}
