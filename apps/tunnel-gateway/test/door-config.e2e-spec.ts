import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, waitFor, type TestDatabase } from '@gatehouse/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SERVICE } from '../src/service.js';
import { readAllRows, type ConfigRows } from '../src/common/config-rows.js';
import { DoorConfig } from '../src/edge/door/door-config.js';
import { EdgeDatabase } from '../src/common/edge-database.js';
import { SnapshotFile } from '../src/edge/snapshot-file.js';
import { DatabaseLine } from './support/database-line.js';

/** Alone, its clients are dealt out to workers 1 and 2 of 3. */
const CLIENTS = [1, 2];

let database: TestDatabase;
let db: EdgeDatabase;
let line: DatabaseLine;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  await SERVICE.migrate({ databaseUrl: database.url });
  db = new EdgeDatabase(database.url);
  line = await DatabaseLine.to(database.url);
  folder = await mkdtemp(join(tmpdir(), 'door-config-'));
  await db.query(`INSERT INTO tunnel_gateway.users (username, password_hash) VALUES ('u', 'x')`);
  for (const id of CLIENTS) {
    await db.query(
      `INSERT INTO tunnel_gateway.clients (name, verify_key, owner_user_id) VALUES ('c${id}', '${id}', 1)`,
    );
    await host(id, `h${id}.example.org`);
  }
});
afterAll(async () => {
  await db.close();
  await line.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

const host = (client: number, name: string): Promise<unknown> =>
  db.query(`INSERT INTO tunnel_gateway.hosts (client_id, host, target_addr) VALUES (${client}, '${name}', 'x')`);

it('routes by the snapshot until the database answers, and then by the database, whatever their revisions', async () => {
  const rows = await db.snapshot(readAllRows);
  const other: ConfigRows = { ...rows, hosts: rows.hosts.map((each) => ({ ...each, clientId: 3 - each.clientId })) };
  await new SnapshotFile(join(folder, 'snapshot.json')).write(other);
  line.cut();
  const problems: string[] = [];
  const config = new DoorConfig({
    databaseUrl: line.url,
    folder,
    count: 3,
    onProblem: (problem) => problems.push(problem),
  });
  try {
    await config.prepare();
    expect(problems).not.toEqual([]);
    expect(config.dealing.ofName('h1.example.org')).toBe(2);
    line.mend();
    config.start();
    await waitFor(() => config.dealing.ofName('h1.example.org') === 1);
    await host(2, 'later.example.org');
    await waitFor(() => config.dealing.ofName('later.example.org') === 2);
  } finally {
    await config.close();
  }
});
