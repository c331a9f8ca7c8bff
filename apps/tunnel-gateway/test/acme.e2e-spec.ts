import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import { createLogger, rootModule } from '@gatehouse/platform';
import { findPeer, NameServer, Pebble, peerOrSkip, reservePort, waitFor, type PebbleOptions } from '@gatehouse/testing';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { AcmeIssuer } from '../src/acme/acme-issuer.js';
import { AcmeSweep } from '../src/acme/acme-sweep.js';
import { ChallengeBoard } from '../src/acme/challenge-board.js';
import { WorkerModule } from '../src/app.module.js';
import { readSettings } from '../src/settings.js';
import { TunnelWorld, type AnyJson } from './support/tunnel-world.js';

/** An order takes two seconds, and longer on a machine that does other things. */
const PATIENCE = { timeoutMs: 40_000 };

let closing: (() => Promise<unknown>)[];
beforeEach(() => {
  closing = [];
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
});

interface Yard {
  world: TunnelWorld;
  pebble: Pebble;
  clientId: number;
}

/** A gateway and an authority that looks at its ports. */
async function yard(
  context: TestContext,
  env: Record<string, string> = {},
  options: Partial<PebbleOptions> = {},
): Promise<Yard> {
  const programs = { pebble: peerOrSkip('pebble') ?? '', names: findPeer('pebble-challtestsrv') ?? '' };
  if (programs.pebble === '' || programs.names === '') context.skip('pebble is not installed: npm run peers');
  const ports = { http: await reservePort(), https: await reservePort() };
  const pebble = await Pebble.start({ programs, ports, ...options });
  closing.push(() => pebble.close());
  const world = await TunnelWorld.start({
    TUNNEL_HTTP_PORT: String(ports.http),
    TUNNEL_HTTPS_PORT: String(ports.https),
    ACME_DIRECTORY_URL: pebble.directory,
    ACME_CA_FILE: pebble.authorityFile,
    ACME_AGREE_TERMS: 'true',
    ACME_CONTACT: 'ops@example.org',
    ...env,
  });
  closing.push(() => world.close());
  return { world, pebble, clientId: (await world.client()).id };
}

async function host({ world, clientId }: Yard, name: string, body: object = {}): Promise<AnyJson> {
  const made = await world.admin('POST', '/hosts', {
    client_id: clientId,
    host: name,
    target_addr: 'http://127.0.0.1:9',
    auto_https: 1,
    ...body,
  });
  expect(made.status).toBe(201);
  return made.body;
}

function sweep({ world }: Yard): Promise<number> {
  return world.gateway.app.get(AcmeSweep, { strict: false }).run();
}

async function certificate({ world }: Yard, id: number): Promise<AnyJson> {
  return (await world.admin('GET', `/certificates/${id}`)).body;
}

/** The certificate once an order has come to an end. */
async function settled(at: Yard, id: number): Promise<AnyJson> {
  await sweep(at);
  return waitFor(async () => {
    const view = await certificate(at, id);
    return view.status !== 'pending' && view;
  }, PATIENCE);
}

/** A visitor in TLS who believes the authority's root and checks the name. */
async function handshake({ world, pebble }: Yard, servername: string): Promise<TLSSocket> {
  const { https } = world.edges.ports;
  const socket = connectTls({ host: '127.0.0.1', port: https, servername, ca: await pebble.root() });
  world.onClose(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

function serialOf(socket: TLSSocket): string {
  return socket.getPeerX509Certificate()?.serialNumber ?? '';
}

/** The certificate presented for a name, whatever its issuer; null: none is presented. */
async function shownSerial({ world }: Yard, servername: string): Promise<string | null> {
  const socket = connectTls({
    host: '127.0.0.1',
    port: world.edges.ports.https,
    servername,
    // As browsers do: others are shown the gateway's own certificate.
    ALPNProtocols: ['h2', 'http/1.1'],
    rejectUnauthorized: false,
  });
  try {
    await once(socket, 'secureConnect');
    return serialOf(socket);
  } catch {
    return null;
  } finally {
    socket.destroy();
  }
}

/** Another process's worker, as far as the database knows. */
async function worker({ world, pebble }: Yard): Promise<INestApplicationContext> {
  const settings = readSettings({
    GATEHOUSE_HOME: world.gateway.home,
    DATABASE_URL: world.gateway.databaseUrl,
    ACME_DIRECTORY_URL: pebble.directory,
    ACME_CA_FILE: pebble.authorityFile,
    ACME_AGREE_TERMS: 'true',
    ACME_CONTACT: 'ops@example.org',
    LOG_LEVEL: 'silent',
  });
  const logger = createLogger({ name: 'worker', settings });
  const root = rootModule({ module: WorkerModule.forRoot(settings) }, logger);
  const context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  closing.push(() => context.close());
  return context;
}

async function events({ world }: Yard): Promise<string[]> {
  const rows = await world.rows(`SELECT type FROM tunnel_gateway_ops.events WHERE type LIKE 'cert.%' ORDER BY id`);
  return rows.map(({ type }) => type as string);
}

describe('ACME certificates, with an authority that refuses every other nonce', () => {
  it('are issued by HTTP-01, served, sealed, renewed, and kept while the authority is down', async (context) => {
    const at = await yard(context, { ACME_CHALLENGES: 'http-01' });
    const { world, pebble } = at;
    const { id } = await host(at, 'app.example.org');
    const view = await settled(at, id);
    expect(view).toMatchObject({
      id,
      host: 'app.example.org',
      source: 'acme',
      status: 'valid',
      names: ['app.example.org'],
      last_error: null,
    });
    expect(view.issuer).toContain('Pebble');
    const third = (Date.parse(view.not_after) - Date.parse(view.not_before)) / 3;
    expect(Date.parse(view.not_after) - Date.parse(view.next_renewal_at)).toBeGreaterThanOrEqual(third);
    const socket = await waitFor(() => handshake(at, 'app.example.org'), PATIENCE);
    const first = serialOf(socket);

    const [row] = await world.rows('SELECT sealed_key FROM tunnel_gateway_ops.certificates');
    const [account] = await world.rows('SELECT sealed_key FROM tunnel_gateway_ops.acme_accounts');
    const snapshot = readFileSync(join(world.gateway.home, 'tunnel-gateway', 'snapshot.json'), 'utf8');
    expect(snapshot).toContain(row.sealed_key);
    for (const text of [row.sealed_key, account.sealed_key, snapshot]) expect(text).not.toContain('PRIVATE KEY');

    await world.rows('UPDATE tunnel_gateway_ops.acme_states SET next_at = now()');
    await sweep(at);
    const second = await waitFor(async () => {
      const serial = await shownSerial(at, 'app.example.org');
      return serial !== first && serial;
    }, PATIENCE);
    // Who was in is still in: the answer is for the connection from before.
    expect(socket.destroyed).toBe(false);
    socket.write('GET / HTTP/1.1\r\nHost: app.example.org\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('HTTP/1.1 503');

    await pebble.fail();
    await world.rows('UPDATE tunnel_gateway_ops.acme_states SET next_at = now()');
    await sweep(at);
    const failed = await waitFor(async () => {
      const now = await certificate(at, id);
      return now.last_error !== null && now;
    }, PATIENCE);
    expect(failed).toMatchObject({ status: 'valid', not_after: expect.any(String) });
    expect(failed.last_error).toContain('connection: 127.0.0.1');
    const wait = Date.parse(failed.next_renewal_at) - Date.now();
    expect(wait).toBeGreaterThan(30_000);
    expect(wait).toBeLessThan(61_000);
    expect(await shownSerial(at, 'app.example.org')).toBe(second);
    expect(await events(at)).toEqual(['cert.issued', 'cert.renewed', 'cert.failed']);
    expect(await sweep(at)).toBe(0);
  }, 120_000);

  it('are issued by TLS-ALPN-01', async (context) => {
    const at = await yard(context, { ACME_CHALLENGES: 'tls-alpn-01' });
    const { id } = await host(at, 'alpn.example.org', { scheme: 'https' });
    expect(await settled(at, id)).toMatchObject({ last_error: null, status: 'valid', names: ['alpn.example.org'] });
    await waitFor(() => handshake(at, 'alpn.example.org'), PATIENCE);
    const challenge = { token: 't', type: 'http-01', name: 'a.example.org', keyAuthorization: 't.k' } as const;
    const takeDown = await at.world.gateway.app.get(ChallengeBoard, { strict: false }).show(challenge);
    // The edge is a process of its own: only it writes this.
    const [{ served_at: servedAt }] = await at.world.rows('SELECT served_at FROM tunnel_gateway_ops.acme_challenges');
    expect(servedAt).not.toBeNull();
    await takeDown();
    expect(await at.world.rows('SELECT * FROM tunnel_gateway_ops.acme_challenges')).toEqual([]);
  }, 120_000);

  it('are issued by DNS-01, also for wildcards, with updates that a name server (BIND) checks', async (context) => {
    const program = peerOrSkip('named') ?? '';
    if (program === '') context.skip('named is not installed: npm run peers');
    const key = { name: 'gatehouse-key', secret: randomBytes(32).toString('base64') };
    const names = await NameServer.start({ program, zone: 'example.org', key });
    closing.push(() => names.close());
    const env = {
      ACME_DNS_PROVIDER: 'rfc2136',
      ACME_DNS_SERVER: `127.0.0.1:${names.port}`,
      ACME_DNS_ZONES: 'example.net,example.org',
      ACME_DNS_TSIG_NAME: key.name,
      ACME_DNS_TSIG_SECRET: key.secret,
      ACME_DNS_WAIT_SECONDS: '0',
      ACME_CHALLENGES: 'dns-01',
    };
    // The authority asks the same server, and finds nothing on the ports of the gateway.
    const at = await yard(context, env, { nameServer: `127.0.0.1:${names.port}` });
    const wild = await host(at, '*.wild.example.org');
    const exact = await host(at, 'hidden.example.org', { scheme: 'https' });
    expect(await settled(at, wild.id)).toMatchObject({
      last_error: null,
      status: 'valid',
      names: ['*.wild.example.org'],
    });
    expect(await settled(at, exact.id)).toMatchObject({
      last_error: null,
      status: 'valid',
      names: ['hidden.example.org'],
    });
    for (const name of ['a.wild.example.org', 'hidden.example.org']) await waitFor(() => handshake(at, name), PATIENCE);
    for (const name of ['wild', 'hidden']) expect(await names.txt(`_acme-challenge.${name}.example.org`)).toEqual([]);
    const other = await host(at, '*.wild.example.com');
    expect((await settled(at, other.id)).last_error).toContain('is in none of the zones of ACME_DNS_ZONES');
    const everything = { client_id: at.clientId, host: '*', target_addr: 'http://127.0.0.1:9', auto_https: 1 };
    expect((await at.world.admin('POST', '/hosts', everything)).status).toBe(422);
  }, 120_000);

  it('are issued only for the account that the authority knows by its external key', async (context) => {
    const binding = { kid: 'kid-1', macKey: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W' };
    const at = await yard(context, { ACME_EAB_KID: binding.kid, ACME_EAB_HMAC_KEY: binding.macKey }, { binding });
    const { id } = await host(at, 'bound.example.org');
    expect(await settled(at, id)).toMatchObject({ status: 'valid' });
  }, 120_000);

  it('are not issued without the required external account binding, with a clear error', async (context) => {
    const binding = { kid: 'kid-1', macKey: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W' };
    const at = await yard(context, {}, { binding });
    const { id } = await host(at, 'unbound.example.org');
    const view = await settled(at, id);
    expect(view.status).toBe('failed');
    expect(view.last_error).toContain('ACME_EAB_KID');
  }, 120_000);

  it('are ordered once by two concurrent workers', async (context) => {
    const at = await yard(context);
    const other = await worker(at);
    const { id } = await host(at, 'once.example.org');
    const issuers = [at.world.gateway.app.get(AcmeIssuer, { strict: false }), other.get(AcmeIssuer, { strict: false })];
    const signal = AbortSignal.timeout(100_000);
    const outcomes = await Promise.all([...issuers, ...issuers].map((issuer) => issuer.issue(id, signal)));
    await settled(at, id);
    expect(outcomes.filter((outcome) => outcome === 'issued').length).toBeLessThanOrEqual(1);
    expect(at.pebble.orders).toBe(1);
  }, 120_000);

  it('report why they are missing, and wait before the next attempt', async (context) => {
    // The name leads to a port that nobody listens on.
    const closedPort = await reservePort();
    const at = await yard(context, {}, { ports: { http: closedPort, https: closedPort } });
    const { id } = await host(at, 'lost.example.org');
    const view = await settled(at, id);
    expect(view).toMatchObject({ status: 'failed', not_after: null, names: [] });
    expect(view.last_error).toMatch(/connection|unauthorized/);
    expect(await at.world.admin('POST', `/hosts/${id}/acme/renew`)).toMatchObject({ status: 429 });
  }, 120_000);
});
