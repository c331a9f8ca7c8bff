import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { UnitOfWork } from '@gatehouse/persistence';
import { type MadeCertificate, makeCertificate, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AcmeSchedule, ORDERS_OF_A_NAME, ORDERS_OF_AN_OWNER, type Wish } from '../src/acme/acme-schedule.js';
import { ExpiryWarnings } from '../src/acme/expiry-warnings.js';
import { bearerOf, caller, TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

const DAY_MS = 86_400_000;

let world: TunnelWorld;
let root: MadeCertificate;
let intermediate: MadeCertificate;
beforeAll(async () => {
  world = await TunnelWorld.start();
  root = makeCertificate({ subject: 'Test Root', ca: true });
  intermediate = makeCertificate({ subject: 'Test Intermediate', issuer: root, ca: true });
});
afterAll(() => world.close());

async function host(name: string, call: Caller = world.admin, body: object = {}): Promise<AnyJson> {
  const client = await world.client({}, call);
  const made = await call('POST', '/hosts', {
    client_id: client.id,
    host: name,
    target_addr: 'http://127.0.0.1:9',
    ...body,
  });
  expect(made.status).toBe(201);
  return made.body;
}

function leaf(name: string, wish: object = {}): MadeCertificate {
  return makeCertificate({ subject: name, names: [name], issuer: intermediate, ...wish });
}

/** The chain that is shown, its own first; null: none. */
async function shown(servername: string): Promise<X509Certificate | null> {
  const { https: port } = world.edges.ports;
  const socket = connect({ host: '127.0.0.1', port, servername, ca: root.certificate });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerX509Certificate() ?? null;
  } catch {
    return null;
  } finally {
    socket.destroy();
  }
}

function serial({ certificate }: MadeCertificate): string {
  return new X509Certificate(certificate).serialNumber;
}

describe('an uploaded certificate', () => {
  it('is sorted, sealed, served, replaced and removed', async () => {
    const { id } = await host('up.example.org');
    expect(await world.admin('GET', `/certificates/${id}`)).toMatchObject({ status: 404 });
    const one = leaf('up.example.org');
    const pieces = [root.certificate, 'some words\n', intermediate.certificate, one.certificate, one.certificate];
    const answer = await world.admin('POST', `/hosts/${id}/cert`, { certificate: pieces.join('\n'), key: one.key });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      id,
      host: 'up.example.org',
      source: 'upload',
      status: 'valid',
      subject: 'CN=up.example.org',
      names: ['up.example.org'],
      issuer: 'CN=Test Intermediate',
      last_error: null,
      next_renewal_at: null,
    });
    expect(await world.admin('GET', `/certificates/${id}`)).toMatchObject({ body: answer.body });
    expect((await world.admin('GET', `/hosts/${id}`)).body.has_cert).toBe(true);
    // The root alone is known to this visitor: the chain is whole.
    expect((await waitFor(() => shown('up.example.org'))).serialNumber).toBe(serial(one));

    const two = leaf('up.example.org');
    const chain = two.certificate + intermediate.certificate;
    await world.admin('POST', `/hosts/${id}/cert`, { certificate: chain, key: two.key });
    await waitFor(async () => (await shown('up.example.org'))?.serialNumber === serial(two));

    const secret = two.key.split('\n')[1] ?? '';
    const [row] = await world.rows('SELECT * FROM tunnel_gateway_ops.certificates WHERE host_id = $1', [id]);
    const snapshot = readFileSync(join(world.gateway.home, 'tunnel-gateway', 'snapshot.json'), 'utf8');
    for (const text of [JSON.stringify(row), snapshot, JSON.stringify(answer.body)]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain('PRIVATE');
    }
    const all = await world.admin('GET', '/certificates?source=upload');
    expect(all.body.items.map((item: AnyJson) => item.id)).toEqual([id]);
    expect((await world.admin('DELETE', `/hosts/${id}/cert`)).status).toBe(204);
    expect((await world.admin('DELETE', `/hosts/${id}/cert`)).status).toBe(404);
    await waitFor(async () => (await shown('up.example.org')) === null);
  });

  it('is refused with the reason', async () => {
    const { id } = await host('wrong.example.org');
    const good = leaf('wrong.example.org');
    const late = leaf('wrong.example.org', { notAfter: new Date(Date.now() - DAY_MS), notBefore: new Date(0) });
    const early = leaf('wrong.example.org', { notBefore: new Date(Date.now() + DAY_MS) });
    const other = leaf('other.example.org');
    const nameless = makeCertificate({ subject: 'wrong.example.org' });
    const locked = '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n';
    const cases: [string, string, string, RegExp][] = [
      ['', good.key, 'certificate', /no certificate/],
      [
        '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
        good.key,
        'certificate',
        /number 1 cannot be read/,
      ],
      [good.certificate, 'nothing', 'key', /not a private key/],
      [good.certificate, locked, 'key', /protected by a password/],
      [good.certificate, other.key, 'key', /does not belong/],
      [late.certificate, late.key, 'certificate', /ended at/],
      [early.certificate, early.key, 'certificate', /begins at/],
      [other.certificate, other.key, 'certificate', /is for other\.example\.org, not for wrong\.example\.org/],
      [nameless.certificate, nameless.key, 'certificate', /is for no names/],
      [good.certificate + other.certificate, good.key, 'certificate', /not part of the chain: CN=other/],
    ];
    for (const [certificate, key, field, message] of cases) {
      const { status, body } = await world.admin('POST', `/hosts/${id}/cert`, { certificate, key });
      expect(status, message.source).toBe(422);
      expect(body.errors[0]).toMatchObject({ field, message: expect.stringMatching(message) });
      expect(JSON.stringify(body)).not.toContain('PRIVATE');
    }
    expect(await shown('wrong.example.org')).toBeNull();
  });

  it('works for a matching wildcard, until the host gets another name', async () => {
    const { id } = await host('*.wild.example.org');
    const wild = leaf('*.wild.example.org');
    const single = leaf('a.wild.example.org');
    const refused = await world.admin('POST', `/hosts/${id}/cert`, {
      certificate: single.certificate,
      key: single.key,
    });
    expect(refused.status).toBe(422);
    const chain = wild.certificate + intermediate.certificate;
    expect((await world.admin('POST', `/hosts/${id}/cert`, { certificate: chain, key: wild.key })).status).toBe(200);
    await waitFor(() => shown('a.wild.example.org'));
    await world.admin('PATCH', `/hosts/${id}`, { host: 'renamed.example.net' });
    await waitFor(async () => (await shown('a.wild.example.org')) === null);
    expect(await shown('renamed.example.net')).toBeNull();
    const { body } = await world.admin('GET', `/certificates/${id}`);
    expect(body).toMatchObject({ status: 'unusable', last_error: 'it is not for renamed.example.net' });
  });
});

describe('certificates of others', () => {
  it('cannot be seen, replaced, removed or ordered by other users', async () => {
    const ann = await world.user('ann');
    const bob = await world.user('bob');
    await world.assign(ann, 'ann.example.org');
    const { id } = await host('ann.example.org', ann.call, { auto_https: 1 });
    const mine = leaf('ann.example.org');
    const body = { certificate: mine.certificate + intermediate.certificate, key: mine.key };
    expect((await ann.call('POST', `/hosts/${id}/cert`, body)).status).toBe(200);
    for (const [method, path, sent] of [
      ['GET', `/certificates/${id}`, undefined],
      ['POST', `/hosts/${id}/cert`, body],
      ['DELETE', `/hosts/${id}/cert`, undefined],
      ['POST', `/hosts/${id}/acme/renew`, undefined],
    ] as const) {
      expect((await bob.call(method, path, sent)).status, `${method} ${path}`).toBe(404);
    }
    expect((await bob.call('GET', '/certificates')).body.items).toEqual([]);
    const own = (await ann.call('GET', '/certificates')).body.items;
    expect(own.map((item: AnyJson) => item.host)).toEqual(['ann.example.org']);
    expect(JSON.stringify(own)).not.toContain('PRIVATE');
    // Administrators see it, but nobody gets the key.
    const seen = await world.admin('GET', `/certificates/${id}`);
    expect(Object.keys(seen.body).toSorted()).toEqual(Object.keys(own[0]).toSorted());
    expect(JSON.stringify(seen.body)).not.toMatch(/key|chain|BEGIN/);
  });

  it('cannot be changed by viewers', async () => {
    const viewer = await world.user('vera', 'viewer');
    expect((await viewer.call('GET', '/certificates')).status).toBe(200);
    expect((await viewer.call('POST', '/hosts/1/cert', { certificate: '', key: '' })).status).toBe(403);
    expect((await viewer.call('DELETE', '/hosts/1/cert')).status).toBe(403);
    expect((await viewer.call('POST', '/hosts/1/acme/renew')).status).toBe(403);
  });
});

describe('certificate files', () => {
  it('are listed without their path, with one warning before they expire', async () => {
    const folder = join(world.gateway.home, 'tunnel-gateway', 'certificates');
    mkdirSync(folder, { recursive: true });
    const soon = leaf('file.example.org', { notAfter: new Date(Date.now() + 3 * DAY_MS), notBefore: new Date(0) });
    writeFileSync(join(folder, 'file.pem'), soon.certificate);
    writeFileSync(join(folder, 'file.key'), soon.key);
    const { id } = await host('file.example.org', world.admin, { cert_path: 'file.pem', key_path: 'file.key' });
    const { body } = await world.admin('GET', `/certificates/${id}`);
    expect(body).toMatchObject({ source: 'file', status: 'expiring', names: ['file.example.org'] });
    const refused = await world.admin('POST', `/hosts/${id}/cert`, { certificate: soon.certificate, key: soon.key });
    expect(refused.status).toBe(409);
    expect((await world.admin('POST', `/hosts/${id}/acme/renew`)).status).toBe(422);

    const warnings = world.gateway.app.get(ExpiryWarnings, { strict: false });
    const later = Date.now() + 7_200_000;
    await warnings.run(later);
    expect(await warnings.run(later + 7_200_000)).toBe(0);
    const events = await world.rows(`SELECT * FROM tunnel_gateway_ops.events WHERE type = 'cert.expiring'`);
    expect(events).toMatchObject([
      { resource_id: expect.anything(), message: expect.stringContaining('file.example.org') },
    ]);

    const warned = async (): Promise<string[]> =>
      (await world.admin('GET', '/dashboard')).body.warnings.map(({ code }: AnyJson) => code as string);
    expect(await warned()).toContain('certificate_expiring');
    const fresh = leaf('file.example.org');
    writeFileSync(join(folder, 'file.pem'), fresh.certificate);
    writeFileSync(join(folder, 'file.key'), fresh.key);
    await warnings.run(later + 14_400_000);
    expect(await warned()).not.toContain('certificate_expiring');

    writeFileSync(join(folder, 'file.pem'), 'nothing');
    const broken = await world.admin('GET', `/certificates/${id}`);
    expect(broken.body).toMatchObject({ status: 'unusable', subject: null, last_error: 'its files cannot be used' });
  });
});

describe('ordered certificates', () => {
  it('report missing agreement to the terms, and that wildcards are not possible', async () => {
    const { id, client_id: client } = await host('later.example.org', world.admin, { auto_https: 1 });
    const { body } = await world.admin('GET', `/certificates/${id}`);
    expect(body).toMatchObject({ source: 'acme', status: 'pending', not_after: null });
    expect(body.last_error).toContain('ACME_AGREE_TERMS');
    const headers = { authorization: `Bearer ${await bearerOf(world.gateway, 'admin')}`, 'accept-language': 'zh-CN' };
    const chinese = await caller(world.gateway.url, headers)('GET', `/certificates/${id}`);
    expect(chinese.body.last_error).toBe('未将 ACME_AGREE_TERMS 设为 true，不会申请证书');
    expect((await world.admin('POST', `/hosts/${id}/acme/renew`)).status).toBe(422);
    const wild = { client_id: client, host: '*.later.example.org', target_addr: 'http://127.0.0.1:9', auto_https: 1 };
    expect((await world.admin('POST', '/hosts', wild)).status).toBe(422);
    const pages = await world.admin('GET', '/certificates?limit=1');
    expect(pages.body.next_cursor).not.toBeNull();
  });

  it('are not ordered repeatedly, whatever happens to the host', async () => {
    const schedule = world.gateway.app.get(AcmeSchedule, { strict: false });
    const client = await world.client();
    const body = { client_id: client.id, target_addr: 'http://127.0.0.1:9', auto_https: 1 };
    const wish = async (name: string): Promise<Wish> => {
      const { body: made } = await world.admin('POST', '/hosts', { ...body, host: name });
      const wished = await schedule.wish(made.id);
      if (!wished) throw new Error(JSON.stringify(made));
      return wished;
    };
    for (let order = 0; order < ORDERS_OF_A_NAME; order++) {
      const wished = await wish('again.example.org');
      expect(wished.due).toBe(true);
      await schedule.begin(wished);
      await world.admin('DELETE', `/hosts/${wished.hostId}`);
    }
    const late = await wish('again.example.org');
    expect(late.due).toBe(false);
    expect((await wish('other.example.org')).due).toBe(true);
    for (let order = ORDERS_OF_A_NAME; order < ORDERS_OF_AN_OWNER; order++) {
      await schedule.begin({ ...late, name: `${order}.example.org` });
    }
    expect((await wish('third.example.org')).due).toBe(false);
    await world.rows(`UPDATE tunnel_gateway_ops.acme_orders SET begun_at = now() - interval '61 minutes'`);
    expect((await wish('fourth.example.org')).due).toBe(true);
    await schedule.clear();
    expect(await world.rows('SELECT * FROM tunnel_gateway_ops.acme_orders')).toEqual([]);
  });

  it('are not ordered in a loop for an authority that always wants an immediate renewal', async () => {
    const schedule = world.gateway.app.get(AcmeSchedule, { strict: false });
    const { id } = await host('restless.example.org', world.admin, { auto_https: 1 });
    const made = leaf('restless.example.org');
    await world.rows(
      `INSERT INTO tunnel_gateway_ops.certificates (host_id, source, chain, sealed_key, names, not_before, not_after)
       VALUES ($1, 'acme', $2, '', '{restless.example.org}', now(), now() + interval '90 days')`,
      [id, made.certificate],
    );
    const unitOfWork = world.gateway.app.get(UnitOfWork, { strict: false });
    await unitOfWork.run((tx) => schedule.succeeded(id, new Date(Date.now() + 60 * DAY_MS), tx));
    expect(await schedule.unasked(10)).not.toContain(id);
    await world.rows(
      `UPDATE tunnel_gateway_ops.acme_states SET asked_at = now() - interval '7 hours' WHERE host_id = $1`,
      [id],
    );
    expect(await schedule.unasked(10)).toContain(id);
  });
});
