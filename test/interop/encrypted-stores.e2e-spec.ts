/** PostgreSQL and Redis that ask for TLS, and what is said where they are not to be trusted. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import {
  type MadeCertificate,
  makeCertificate,
  type PostgresServer,
  programEnvironment,
  type RedisServer,
  startPostgres,
  startRedis,
} from '@gatehouse/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BuiltService } from '../support/built-service.js';
import { requirePeer } from '../support/peers.js';

const run = promisify(execFile);
const SERVICES = ['proxy-gateway', 'resource-sharing', 'tunnel-gateway'];
const migrateScript = (service: string): string =>
  fileURLToPath(new URL(`../../apps/${service}/bundle/migrate.js`, import.meta.url));

let folder: string;
let ours: MadeCertificate;
/** Files of authorities: one that signed the servers' certificates, and one of the same name that did not. */
let trusted: string;
let foreign: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-encrypted-'));
  const authority = makeCertificate({ subject: 'Stores', ca: true });
  ours = makeCertificate({ subject: 'store', names: ['127.0.0.1'], issuer: authority });
  const write = (name: string, { certificate }: MadeCertificate): string => {
    const file = path.join(folder, name);
    writeFileSync(file, certificate);
    return file;
  };
  trusted = write('trusted.pem', authority);
  foreign = write('foreign.pem', makeCertificate({ subject: 'Stores', ca: true }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a PostgreSQL that accepts TLS connections only', { timeout: 120_000 }, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ tls: { certificate: ours.certificate, key: ours.key } });
  });
  afterAll(() => server.close());

  async function migrate(service: string, query: string): Promise<{ code: number; text: string }> {
    const env = programEnvironment({ GATEHOUSE_HOME: folder, DATABASE_URL: `${server.url}${query}` });
    return run(process.execPath, [migrateScript(service)], { env }).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, text: stderr }),
    );
  }

  it('is refused with one sentence if its authority is not the one of sslrootcert', async () => {
    const sentence =
      'DATABASE_URL: the database cannot be used, its certificate is not signed by a trusted authority ' +
      '(sslrootcert names the file of another one)';
    const refused = SERVICES.map((service) => migrate(service, `?sslmode=verify-full&sslrootcert=${foreign}`));
    expect(await Promise.all(refused)).toEqual(
      SERVICES.map((service) => ({ code: 1, text: `${service}: ${sentence}\n` })),
    );
  });

  it('must show its authority for every encrypting sslmode except one', async () => {
    const modes = ['require', 'prefer', 'verify-ca', 'no-verify', 'disable'];
    const answers = await Promise.all(
      modes.map((mode) => migrate('resource-sharing', `?sslmode=${mode}&sslrootcert=${foreign}`)),
    );
    const isRefused = answers.map(({ code, text }) => code === 1 && text.includes('not signed by a trusted authority'));
    expect(isRefused).toEqual([true, true, true, false, false]);
    expect(answers[3]).toMatchObject({ code: 0 });
    // Not encrypted, which this server does not allow.
    expect(answers[4]).toMatchObject({ code: 1, text: expect.stringContaining('it refuses the user') });
  });

  it('is refused if the certificate is for another name, or if the file is missing', async () => {
    const url = new URL(server.url);
    const query = `?sslmode=verify-full&sslrootcert=${trusted}`;
    const named = { ...process.env, DATABASE_URL: `${server.url.replace(url.hostname, 'localhost')}${query}` };
    const refused = run(process.execPath, [migrateScript('proxy-gateway')], { env: named });
    const absent = migrate('proxy-gateway', `?sslmode=verify-full&sslrootcert=${folder}/absent.pem`);
    await expect(refused).rejects.toMatchObject({ stderr: expect.stringContaining('is for another name') });
    const missing = await absent;
    expect(missing.text).toBe(
      'proxy-gateway: DATABASE_URL: the database cannot be used, ' +
        'a file that it names (sslrootcert, sslcert, sslkey) is missing\n',
    );
  });
});

describe('a Redis that requires TLS, a user and a password', { timeout: 120_000 }, () => {
  let redis: RedisServer | undefined;
  afterAll(() => redis?.close());

  it('carries queues and limits, and is refused if its authority is not the one of REDIS_CA_FILE', async (context) => {
    const program = requirePeer(context, 'redis-server');
    redis = await startRedis(program, { ...ours, user: 'gatehouse', password: 'ofTheGateway' });
    const settings = { REDIS_URL: redis.url, REDIS_CA_FILE: trusted };
    const ports = {
      PROXY_GATEWAY_PORT: '0',
      PROXY_KERNEL_PORT: '0',
      TUNNEL_GATEWAY_PORT: '0',
      RESOURCE_SHARING_PORT: '0',
    };
    const starting = ['proxy-gateway', 'resource-sharing'].map((name) =>
      BuiltService.start(name, { ...settings, ...ports }),
    );
    await using proxy = await starting[0]!;
    await using sharing = await starting[1]!;
    for (const service of [proxy, sharing]) {
      expect((await fetch(`http://127.0.0.1:${service.port}/readyz`)).status).toBe(200);
    }
    const client = new Redis(redis.url, { tls: { ca: ours.certificate, rejectUnauthorized: false } });
    const names = (await client.client('LIST')) as string;
    await client.quit();
    expect(names).toMatch(/name=proxy-gateway.* user=gatehouse/);
    expect(names).toMatch(/name=resource-sharing-limits.* user=gatehouse/);

    const wrong = redis.url.replace('ofTheGateway', 'ofAnother');
    const refused = BuiltService.start('proxy-gateway', { ...settings, ...ports, REDIS_CA_FILE: foreign });
    const unknown = BuiltService.start('proxy-gateway', { ...settings, ...ports, REDIS_URL: wrong });
    unknown.catch(() => undefined);
    await expect(refused).rejects.toThrow(/Redis \(REDIS_URL\) does not answer: .*certificate/);
    await expect(unknown).rejects.toThrow(/Redis \(REDIS_URL\) does not answer: WRONGPASS/);
  });

  it('is never contacted without TLS by mistake', async () => {
    const settings = { REDIS_URL: 'redis://127.0.0.1:1', REDIS_CA_FILE: trusted, PROXY_GATEWAY_PORT: '0' };
    await expect(BuiltService.start('proxy-gateway', settings)).rejects.toThrow(/REDIS_CA_FILE: REDIS_URL begins/);
  });
});
