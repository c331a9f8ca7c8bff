import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditVerification } from '@gatehouse/contracts';
import { noteRestore } from '@gatehouse/persistence';
import { DataSource } from 'typeorm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';

let home: string;
let gateway: Gateway;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'audit-witness-'));
  gateway = await startGateway({ GATEHOUSE_HOME: home });
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

const fileOf = (): string => join(home, 'audit-witness', 'proxy-gateway.jsonl');
const sql = <T>(text: string): Promise<T[]> => gateway.app.app.get(DataSource).query(text);
const verify = async (): Promise<AuditVerification> =>
  (await gateway.call<AuditVerification>('GET', '/audit-logs/verify')).body;
const makeKey = async (name: string): Promise<string> => (await gateway.call('POST', '/api-keys', { name })).body.key;

/**
 * What an attacker with the database but without the service's key can do: delete the newest rows and restore an old
 * sealed head.
 */
async function cutAfter(work: () => Promise<unknown>): Promise<void> {
  await sql('CREATE TABLE kept AS SELECT * FROM audit_chain');
  await work();
  expect((await verify()).ok).toBe(true);
  await sql('DELETE FROM audit_logs WHERE id > (SELECT last_id FROM kept)');
  await sql(
    `UPDATE audit_chain SET last_id = kept.last_id, last_hash = kept.last_hash, seal = kept.seal, first_id = kept.first_id,
       anchor_hash = kept.anchor_hash FROM kept`,
  );
}

it('sees the newest rows deleted and an old head put back', async () => {
  let key = '';
  await cutAfter(async () => (key = await makeKey('thief')));
  expect((await gateway.call('GET', '/api-keys', undefined, { authorization: `Bearer ${key}` })).status).toBe(200);
  const found = await verify();
  expect(found).toMatchObject({ ok: false, broken: { id: found.last_id + 1, reason: 'witness_ahead' } });
  expect(found.witness).toMatchObject({ status: 'contradicts', last_id: found.last_id + 1 });

  // Continuing as if nothing had happened: the ids are used again, for other rows.
  await makeKey('after');
  await makeKey('that');
  expect(await verify()).toMatchObject({
    ok: false,
    broken: { id: found.last_id + 1, reason: 'witness_differs' },
    witness: { status: 'contradicts' },
  });
});

it('confirms an unchanged log, with nothing but its file', async () => {
  await makeKey('one');
  const { ok, last_id, last_hash, witness } = await verify();
  expect({ ok, witness }).toMatchObject({ ok: true, witness: { status: 'confirms', last_id, detail: null } });
  const newest = readFileSync(fileOf(), 'utf8').trim().split('\n').at(-1) ?? '';
  expect(JSON.parse(newest)).toMatchObject({ id: last_id, hash: last_hash });
  expect(statSync(fileOf()).mode & 0o777).toBe(0o600);
  expect(readFileSync(fileOf(), 'utf8')).not.toContain('one');
});

it('reports that a backup was restored, and detects a cut after that', async () => {
  await cutAfter(() => makeKey('newer than the backup'));
  await noteRestore(home, { at: new Date().toISOString(), backupOf: '2026-01-01T00:00:00.000Z' });
  expect(await verify()).toMatchObject({
    ok: true,
    broken: null,
    witness: { status: 'restored', detail: expect.stringContaining('backup was restored') },
  });
  await sql('DROP TABLE kept');
  await makeKey('a');
  await cutAfter(() => makeKey('b'));
  expect(await verify()).toMatchObject({ ok: false, witness: { status: 'contradicts' } });
});

it('continues when the witness cannot write, and reports it', async () => {
  await makeKey('one');
  await verify();
  const lines = readFileSync(fileOf(), 'utf8');
  rmSync(join(home, 'audit-witness'), { recursive: true });
  writeFileSync(join(home, 'audit-witness'), 'a file where the folder was');
  expect((await gateway.call('POST', '/api-keys', { name: 'two' })).status).toBe(201);
  expect(await verify()).toMatchObject({ ok: true, witness: { status: 'unreadable' } });
  expect(gateway.app.logs.some(({ message }) => /witness of the audit log cannot write/.test(message))).toBe(true);
  // It is back as it was: late, but without an alarm.
  rmSync(join(home, 'audit-witness'));
  mkdirSync(join(home, 'audit-witness'));
  writeFileSync(fileOf(), lines, { mode: 0o600 });
  const { ok, witness } = await verify();
  expect(ok).toBe(true);
  expect(witness.status).toBe('behind');
});
