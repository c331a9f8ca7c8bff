import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  backupDatabase,
  checkInvariants,
  findSecretKeys,
  readBackupHeader,
  startEmbeddedPostgres,
  withClient,
} from '@gatehouse/persistence';
import { asnFile, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts, LaunchedPlatform, temporaryHome, type Ports } from '../smoke/launched-platform.js';
import {
  addOldDays,
  basesOf,
  commandLine,
  fillProxyGateway,
  fillSharing,
  fillTunnelGateway,
  Kept,
  keepBusy,
  useProxyGateway,
  useSharing,
  useTunnelGateway,
  witnesses,
} from './filled-platform.js';
import { NETWORKS, rulesEnvironment } from './kept-rules.js';
import { storedServices } from './stored-services.js';
import { sequenceValues, tableFingerprints } from './table-fingerprints.js';

/** Does `work` with the database of a home whose platform is stopped. */
async function withStoppedDatabase<T>(home: string, work: (url: string) => Promise<T>): Promise<T> {
  const server = await startEmbeddedPostgres({ home, durable: false });
  try {
    return await work(server.url());
  } finally {
    await server.stop();
  }
}

/** Points and bytes that one table has and another one, which counts the same, has not. */
const countedTwice = (url: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query(
      `SELECT 'points' AS what, sum(amount)::int AS difference FROM resource_sharing.ledger_entries HAVING sum(amount) <> 0
       UNION ALL SELECT 'no points', 0 FROM resource_sharing.ledger_transactions HAVING count(*) < 4
       UNION ALL SELECT 'no bytes', 0 FROM tunnel_gateway.clients HAVING sum(export_flow) = 0
       UNION ALL SELECT 'bytes of client ' || id, export_flow - coalesce((SELECT sum(export_flow) FROM tunnel_gateway.tunnels
           WHERE client_id = clients.id), 0) - coalesce((SELECT sum(export_flow) FROM tunnel_gateway.hosts WHERE client_id = clients.id), 0)
         FROM tunnel_gateway.clients WHERE export_flow <> coalesce((SELECT sum(export_flow) FROM tunnel_gateway.tunnels
           WHERE client_id = clients.id), 0) + coalesce((SELECT sum(export_flow) FROM tunnel_gateway.hosts WHERE client_id = clients.id), 0)`,
    );
    return rows as unknown[];
  });

const storedData = (url: string) =>
  withClient(url, async (client) => {
    await client.query(`SET timezone = 'UTC'`);
    return { tables: await tableFingerprints(client), sequences: await sequenceValues(client) };
  });

describe.skipIf(process.platform !== 'linux')('a lost platform', { timeout: 400_000 }, () => {
  let root: string;
  let ports: Ports;
  let origin: Server;
  let originUrl: URL;
  let platform: LaunchedPlatform | undefined;
  let kept: Kept | undefined;

  beforeAll(async () => {
    root = temporaryHome('gatehouse-lost-');
    writeFileSync(join(root, 'asn.mmdb'), asnFile(NETWORKS));
    ports = await freePorts();
    origin = createServer((_, response) => response.end('hello'));
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    originUrl = new URL(`http://127.0.0.1:${(origin.address() as AddressInfo).port}/hello`);
  });
  afterAll(async () => {
    await kept?.stopAgent();
    await platform?.stop('SIGTERM');
    origin.closeAllConnections();
    origin.close();
    rmSync(root, { recursive: true, force: true });
  });

  const start = async (home: string): Promise<LaunchedPlatform> => {
    mkdirSync(home, { recursive: true, mode: 0o755 });
    const admin = kept === undefined ? {} : { GATEHOUSE_ADMIN_PASSWORD: 'not-the-one-that-was-saved' };
    const extra = { ...rulesEnvironment(join(root, 'asn.mmdb')), ...admin };
    platform = await new LaunchedPlatform(home, ports, extra).ready();
    return platform;
  };

  it('comes back from its backup with everything that people and programs know', async () => {
    const [home, other, file] = [join(root, 'lost'), join(root, 'new'), join(root, 'kept.backup.gz')];
    const bases = basesOf(ports);
    const first = await start(home);
    kept = new Kept(readFileSync(join(home, 'first-login.txt'), 'utf8').trim());
    const known = kept;
    await fillProxyGateway(bases.proxy, known, ports, originUrl.href);
    await fillSharing(bases.sharing, known);
    await fillTunnelGateway(bases.tunnel, known, ports, originUrl);
    await commandLine(home, 'seed-demo');
    const url = (await commandLine(home, 'db-url')).stdout.trim();
    await addOldDays(url);

    // Backed up while people go on, and compared with what the very snapshot of the backup holds.
    let busy = true;
    const going = keepBusy(bases, known, ports, originUrl.href, () => !busy);
    await waitFor(async () => (await countedTwice(url)).length === 0, { timeoutMs: 60_000 });
    const saved = await withClient(url, async (client) => {
      await client.query(`SET timezone = 'UTC'; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`);
      const { rows } = await client.query<{ id: string }>('SELECT pg_export_snapshot() AS id');
      const options = { snapshot: rows[0]?.id ?? '', keys: findSecretKeys({ home }) ?? [] };
      await backupDatabase(url, file, options);
      return tableFingerprints(client);
    });
    busy = false;
    expect(await going).toBeGreaterThan(0);
    expect(Number(saved['proxy_gateway.traffic_logs']?.split(' ')[0])).toBeGreaterThan(1_000);
    await first.stop('SIGTERM');

    // Nothing is left but the file and the key.
    mkdirSync(other, { mode: 0o755 });
    cpSync(join(home, 'secret.key'), join(other, 'secret.key'));
    rmSync(home, { recursive: true });
    await commandLine(other, 'restore', file);
    const header = await readBackupHeader(file);
    const sequences = Object.fromEntries(
      header.sequences.map(({ schema, name, value, called }) => [`${schema}.${name}`, `${value} ${called}`]),
    );
    await withStoppedDatabase(other, async (url) => {
      expect(await storedData(url)).toEqual({ tables: saved, sequences });
      // What was moving is of one moment.
      expect(await countedTwice(url)).toEqual([]);
      const checks = await checkInvariants(url, await storedServices());
      expect(checks.filter(({ broken }) => broken > 0)).toEqual([]);
    });

    await start(other);
    await useProxyGateway(bases.proxy, known, ports, originUrl.href);
    await useSharing(bases.sharing, known);
    await useTunnelGateway(bases.tunnel, known, ports);

    // Over data that were used, too.
    const rehearsed = join(root, 'later.backup.gz');
    await commandLine(other, 'backup', rehearsed);
    await platform?.stop('SIGTERM');
    await expect(commandLine(other, 'restore', file)).rejects.toThrow('restore with --force');
    const { stderr } = await commandLine(other, 'restore', file, '--force');
    expect(stderr).toMatch(/Replacing [\d,]+ rows of proxy-gateway/);
    expect(await withStoppedDatabase(other, storedData)).toEqual({ tables: saved, sequences });
    // What was written after a restore holds together as well.
    const { stdout } = await commandLine(other, 'restore', '--rehearse', rehearsed);
    expect(stdout).toContain('can be restored');
    expect(stdout).not.toContain('FAIL');
    // The witnesses saw rows that are gone, and know why.
    await start(other);
    expect(await witnesses(bases, known)).toEqual(['restored', 'restored', 'restored']);
  });
});
