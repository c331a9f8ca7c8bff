import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres, withClient } from '@gatehouse/persistence';
import { startHttpOrigin, waitFor, type HttpOrigin } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { curl } from '../support/curl.js';
import { requirePeer } from '../support/peers.js';
import { freePorts, LaunchedPlatform, processesOf, temporaryHome, type Ports } from './launched-platform.js';

interface State {
  databaseUrl: string;
  postgresPid: number;
  services: { name: string; pid: number; url: string }[];
}

const isRoot = process.getuid?.() === 0;
const TIMEOUT_MS = 120_000;
/** The user that nobody logs in as. */
const NOBODY = 65_534;

const readState = (home: string): State => JSON.parse(readFileSync(join(home, 'state.json'), 'utf8')) as State;

describe.skipIf(process.platform !== 'linux')('npm start on a bad day', { timeout: TIMEOUT_MS }, () => {
  let home: string;
  let ports: Ports;
  let origin: HttpOrigin;
  const launched: LaunchedPlatform[] = [];
  const launch = (folder = home, extra: Record<string, string> = {}): LaunchedPlatform => {
    const platform = new LaunchedPlatform(folder, ports, extra);
    launched.push(platform);
    return platform;
  };
  /** What a refused start prints, once all its processes have ended. */
  async function refusal(folder = home, extra: Record<string, string> = {}): Promise<string[]> {
    const platform = launch(folder, extra);
    expect((await platform.ended).code).toBe(1);
    expect(processesOf(folder)).toEqual([]);
    // Services that came up before another failed may have warned of something.
    const lines = platform.errors.trim().split('\n');
    return lines.slice(lines.findIndex((line) => line.startsWith('gatehouse: ')));
  }

  beforeAll(async () => {
    home = temporaryHome('gatehouse-bad-');
    ports = await freePorts();
    origin = await startHttpOrigin();
  });
  afterEach(async () => {
    for (const platform of launched.splice(0)) {
      if (platform.child.exitCode === null && platform.child.signalCode === null) await platform.stop('SIGTERM');
    }
  });
  afterAll(async () => {
    await origin.close();
    rmSync(home, { recursive: true, force: true });
  });

  it('reports everything that is wrong with the settings of any service at once, and creates nothing', async () => {
    const wrong = { LOG_LEVEL: 'loud', TUNNEL_EDGE_WORKERS: 'x', SHARE_DELETION_FEE: 'much', PROXY_GATEWAY_HSOTS: 'a' };
    const withPort = await refusal(home, { ...wrong, GATEHOUSE_POSTGRES_PORT: '70000' });
    expect(withPort).toHaveLength(6);
    expect(withPort[1]).toContain('GATEHOUSE_POSTGRES_PORT=70000 is not a port');
    const lines = await refusal(home, wrong);
    expect(lines[0]).toBe('gatehouse: the environment is not usable:');
    expect(
      lines
        .slice(1)
        .map((line) => line.trim().split(':')[0])
        .toSorted(),
    ).toEqual(Object.keys(wrong).toSorted());
    expect(readdirSync(home)).toEqual([]);
  });

  it('keeps its home and its logs private, and gets its database back after a kill -9', async (context) => {
    const binary = requirePeer(context, 'curl');
    const umask = process.umask(0);
    const platform = launch(join(home, 'open'));
    process.umask(umask);
    await platform.ready();
    const inner = join(home, 'open');
    expect(statSync(inner).mode & 0o077).toBe(isRoot ? 0o011 : 0);
    expect(statSync(join(inner, 'logs')).mode & 0o077).toBe(0);
    const state = readState(inner);
    process.kill(state.postgresPid, 'SIGKILL');
    const proxied = curl(binary, ['-x', `http://127.0.0.1:${ports.PROXY_KERNEL_PORT}`, `${origin.url}/bytes/1000`]);
    expect((await proxied).bytes).toBe(1_000);
    await waitFor(() => platform.errors.includes('[PostgreSQL] is back'), { timeoutMs: 60_000 });
    for (const { url } of state.services) {
      await waitFor(async () => (await fetch(`${url}/readyz`)).status === 200, { timeoutMs: 30_000 });
    }
    expect(readState(inner).services.map(({ pid }) => pid)).toEqual(state.services.map(({ pid }) => pid));
    expect(readState(inner).postgresPid).not.toBe(state.postgresPid);
    await platform.stop();
    expect(processesOf(inner)).toEqual([]);
  });

  it('refuses a database of a newer version, and names the unknown migration', async () => {
    const folder = join(home, 'open');
    const name = 'FromTheFuture1999999999999';
    const insert = `INSERT INTO tunnel_gateway_ops.migrations (timestamp, name) VALUES (1999999999999, '${name}')`;
    // Its database alone: a start of everything costs five seconds of processor time.
    const database = await startEmbeddedPostgres({ home: folder });
    try {
      await withClient(database.url(), (client) => client.query(insert));
    } finally {
      await database.stop();
    }
    const lines = await refusal(folder);
    expect(lines[0]).toMatch(/^gatehouse: tunnel-gateway cannot start: the database has a migration in the schema/);
    expect(lines[0]).toContain(name);
    expect(lines.join('\n')).not.toContain('"level":"info"');
  });

  it('does not create a new secret key for a database that was used with another one', async () => {
    const folder = join(home, 'open');
    const key = readFileSync(join(folder, 'secret.key'));
    rmSync(join(folder, 'secret.key'));
    const [first] = await refusal(folder);
    expect(first).toContain(`The secret key ${join(folder, 'secret.key')} is missing`);
    expect(first).toContain('from your backup');
    expect(existsSync(join(folder, 'secret.key'))).toBe(false);
    writeFileSync(join(folder, 'secret.key'), key, { mode: 0o600 });
  });

  it('names a damaged postgres.json, and following its advice keeps the data', async () => {
    const folder = join(home, 'open');
    truncateSync(join(folder, 'postgres.json'));
    const [first] = await refusal(folder);
    expect(first).toContain(`${join(folder, 'postgres.json')} is damaged: delete it and start again`);
    rmSync(join(folder, 'postgres.json'));
    // Still refused for what the test before put into the data: they are the same.
    expect((await refusal(folder)).join('\n')).toContain('FromTheFuture');
  });

  it.runIf(isRoot)('leaves the home to its owner when root has started it once', async () => {
    const folder = join(home, 'of-nobody');
    mkdirSync(folder, { mode: 0o700 });
    chownSync(folder, NOBODY, NOBODY);
    await (await launch(folder).ready()).stop();
    const notTheirs = execFileSync('find', [folder, '!', '-user', String(NOBODY)], { encoding: 'utf8' });
    expect(notTheirs).toBe('');
  });

  // A real small disk needs the right to mount one.
  it.runIf(isRoot)('survives a full disk, and reports it clearly when started on one', async (context) => {
    const binary = requirePeer(context, 'curl');
    const disk = join(home, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300m,mode=755', 'tmpfs', disk]);
    try {
      await fillWhileRunning(launch(disk), disk, binary);
      fill(disk);
      expect((await refusal(disk))[0]).toBe(`gatehouse: there is no space left on the disk of ${disk}.`);
      rmSync(join(disk, 'filler'));
      await (await launch(disk).ready()).stop();
    } finally {
      await Promise.all(launched.splice(0).map((platform) => platform.stop('SIGTERM')));
      execFileSync('umount', ['-l', disk]);
    }
  });

  function fill(disk: string): void {
    expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(320 * 1024 * 1024))).toThrow('ENOSPC');
  }

  async function fillWhileRunning(platform: LaunchedPlatform, disk: string, binary: string): Promise<void> {
    await platform.ready();
    const { services } = readState(disk);
    fill(disk);
    // A login that fails is a line of the log.
    const login = `http://127.0.0.1:${ports.PROXY_GATEWAY_PORT}/api/v1/auth/login`;
    const headers = { 'content-type': 'application/json' };
    const attempt = (): Promise<Response> => fetch(login, { method: 'POST', headers, body: '{"password":"wrong"}' });
    await waitFor(
      async () => {
        await attempt().catch(() => undefined);
        return platform.errors.includes('cannot be written (the disk is full)');
      },
      { timeoutMs: 60_000 },
    );
    const proxied = await curl(binary, [
      '-x',
      `http://127.0.0.1:${ports.PROXY_KERNEL_PORT}`,
      `${origin.url}/bytes/1000`,
    ]);
    expect(proxied.bytes).toBe(1_000);
    // Kill with 0 asks whether the process is there, and throws where it is not.
    for (const { pid } of services) expect(process.kill(pid, 0)).toBe(true);
    rmSync(join(disk, 'filler'));
    await waitFor(
      async () => {
        await attempt().catch(() => undefined);
        return /lines are missing here/.test(readFileSync(join(disk, 'logs', 'proxy-gateway.log'), 'utf8'));
      },
      { timeoutMs: 60_000 },
    );
    for (const { url } of services) {
      await waitFor(async () => (await fetch(`${url}/readyz`)).status === 200, { timeoutMs: 60_000 });
    }
    expect((await platform.stop()).code).toBe(0);
  }
});
