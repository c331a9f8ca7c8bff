import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { formOf, VisitorBrowser, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Retention } from '../src/retention/retention.js';
import { DatabaseLine } from './support/database-line.js';
import { closed, TunnelWorld, type AnyJson } from './support/tunnel-world.js';

let world: TunnelWorld;
let clientId: number;
let echo: number;
beforeAll(async () => {
  world = await TunnelWorld.start({ TRUSTED_PROXIES: '127.0.0.1' });
  const client = await world.client();
  clientId = client.id;
  await world.online(client.key);
  echo = await world.echo();
});
afterAll(() => world.close());

const browser = (from = '127.0.0.1'): VisitorBrowser => {
  const { port, host } = new URL(world.gateway.url);
  return new VisitorBrowser({ port: Number(port), host, from });
};
const page = (tunnel: AnyJson): string => `/visit/tunnel/${tunnel.id}`;
const isIn = async (tunnel: AnyJson): Promise<boolean> => (await world.ask(tunnel.listen_port, 'ping')) === 'ping';
const grants = (tunnel: AnyJson): Promise<AnyJson[]> =>
  world.rows('SELECT address, once FROM tunnel_gateway_ops.visitor_grants WHERE tunnel_id = $1', [tunnel.id]);

async function guard(tunnel: AnyJson, body: object = {}): Promise<AnyJson> {
  const { status, body: policy } = await world.admin('POST', '/auth-policies', {
    resource_type: 'tunnel',
    resource_id: tunnel.id,
    type: 'password',
    password: 'open sesame',
    ...body,
  });
  if (status !== 201) throw new Error(JSON.stringify(policy));
  await waitFor(async () => !(await isIn(tunnel)));
  return policy;
}

describe('a raw tunnel with a password', () => {
  it('admits an address after a proof at the console’s port, and nobody before', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    expect(await isIn(tunnel)).toBe(true);
    await guard(tunnel);
    const visitor = browser();
    const { status, headers, body } = await visitor.ask({ path: page(tunnel) });
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-.*form-action 'self'$/);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' });
    expect(body).not.toContain('<script');
    expect(body).toContain('127.0.0.1 has no access yet');
    expect((await browser('127.0.0.5').prove('wrong', page(tunnel))).status).toBe(401);
    expect(await isIn(tunnel)).toBe(false);
    expect(await visitor.prove('open sesame', page(tunnel))).toMatchObject({
      status: 303,
      headers: { location: page(tunnel) },
    });
    await waitFor(() => isIn(tunnel), { timeoutMs: 1_000 });
    expect((await visitor.ask({ path: page(tunnel) })).body).toContain('127.0.0.1 has access until');
    const event = { client_id: clientId, address: '127.0.0.5', count: 1 };
    await waitFor(async () => {
      const events = await world.rows(
        `SELECT 1 FROM tunnel_gateway_ops.events WHERE type = 'auth.visitor_failed' AND resource_type = 'tunnel'
         AND resource_id = $1 AND owner_user_id IS NOT NULL AND data @> $2::jsonb`,
        [tunnel.id, JSON.stringify(event)],
      );
      return events.length === 1;
    });
  });

  it('accepts a proof for a policy of which only the version has changed', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    const policy = await guard(tunnel);
    expect((await world.admin('PATCH', `/auth-policies/${policy.id}`, {})).status).toBe(200);
    await browser().prove('open sesame', page(tunnel));
    await waitFor(() => isIn(tunnel), { timeoutMs: 3_000 });
  });

  it('keeps admitted visitors when the edge dies', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    await guard(tunnel);
    await browser().prove('open sesame', page(tunnel));
    await waitFor(() => isIn(tunnel));
    const before = world.edges.pid;
    process.kill(before ?? 0, 'SIGKILL');
    await waitFor(() => world.edges.pid !== null && world.edges.pid !== before);
    await waitFor(() => isIn(tunnel), { timeoutMs: 10_000 });
  });

  it('ends grants and open connections when the policy or the tunnel changes', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    const policy = await guard(tunnel);
    const change = (path: string, body: object): Promise<unknown> => world.admin('PATCH', path, body);
    for (const [path, body] of [
      [`/auth-policies/${policy.id}`, { ttl_seconds: 60 }],
      [`/auth-policies/${policy.id}`, { password: 'open sesame' }],
      [`/tunnels/${tunnel.id}`, { status: 0 }],
    ] as const) {
      await browser().prove('open sesame', page(tunnel));
      await waitFor(() => isIn(tunnel), { timeoutMs: 10_000 });
      const running = await world.visit(tunnel.listen_port);
      running.write('x');
      await once(running, 'data');
      const [ended, began] = [closed(running), Date.now()];
      await change(path, body);
      await ended;
      expect(Date.now() - began).toBeLessThan(1_000);
      if ('status' in body) await change(path, { status: 1 });
      expect(await grants(tunnel)).toEqual([]);
      await waitFor(async () => (await world.admin('GET', `/tunnels/${tunnel.id}`)).body.run_status === 1, {
        timeoutMs: 10_000,
      });
      expect(await isIn(tunnel)).toBe(false);
    }
    await browser().prove('open sesame', page(tunnel));
    await waitFor(() => isIn(tunnel), { timeoutMs: 10_000 });
    await change(`/auth-policies/${policy.id}`, { enabled: 0 });
    await change(`/auth-policies/${policy.id}`, { enabled: 1 });
    await waitFor(async () => !(await isIn(tunnel)));
  });

  it('ends grants for the tunnels of a disabled client', async () => {
    const client = await world.client({ name: 'disabled' });
    await world.online(client.key);
    const tunnel = await world.tunnel(client.id, echo);
    await guard(tunnel);
    await browser().prove('open sesame', page(tunnel));
    await waitFor(() => isIn(tunnel));
    await world.admin('PATCH', `/clients/${client.id}`, { status: 0 });
    expect(await grants(tunnel)).toEqual([]);
    expect((await browser().ask({ path: page(tunnel) })).status).toBe(404);
  });

  it('ends the connections of earlier visitors when a policy is added', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    const running = await world.visit(tunnel.listen_port);
    running.write('x');
    await once(running, 'data');
    const [ended, began] = [closed(running), Date.now()];
    await guard(tunnel);
    await ended;
    expect(Date.now() - began).toBeLessThan(1_000);
  });

  it('admits a single connection if a proof has no duration', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    await guard(tunnel, { ttl_seconds: 0 });
    const visitor = browser();
    await visitor.prove('open sesame', page(tunnel));
    expect((await visitor.ask({ path: page(tunnel) })).body).toContain('for one connection');
    await waitFor(() => isIn(tunnel), { timeoutMs: 2_000 });
    expect(await isIn(tunnel)).toBe(false);
    await waitFor(async () => (await grants(tunnel)).length === 0);
  });

  it('accepts five guesses a minute from one address, and says when the next is possible', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    await guard(tunnel);
    const visitor = browser('127.0.0.9');
    for (let count = 0; count < 5; count += 1) {
      expect((await visitor.prove(`guess ${count}`, page(tunnel))).status).toBe(401);
    }
    const { status, headers } = await visitor.prove('open sesame', page(tunnel));
    expect(status).toBe(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect((await browser('127.0.0.10').prove('open sesame', page(tunnel))).status).toBe(303);
  });

  it('accepts the visitor’s address only from trusted proxies', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    await guard(tunnel);
    await browser().prove('open sesame', page(tunnel), { 'x-forwarded-for': '203.0.113.7' });
    await browser().prove('open sesame', page(tunnel), { 'x-forwarded-for': '::ffff:203.0.113.9' });
    await browser('127.0.0.3').prove('open sesame', page(tunnel), { 'x-forwarded-for': '203.0.113.8' });
    const addresses = new Set((await grants(tunnel)).map(({ address }) => address));
    expect(addresses).toEqual(new Set(['127.0.0.3', '203.0.113.7', '203.0.113.9']));
    expect(await isIn(tunnel)).toBe(false);
  });

  it('accepts only forms of its own pages', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    const policy = await guard(tunnel);
    const other = await world.tunnel(clientId, echo);
    const otherPolicy = await guard(other, { password: 'another' });
    const visitor = browser('127.0.0.11');
    const form = formOf(await visitor.ask({ path: page(tunnel) }));
    form.fields.set('password', 'open sesame');
    const refused = async (sent: Promise<{ status: number }>, status: number): Promise<void> =>
      expect((await sent).status).toBe(status);
    await refused(visitor.submit(form, { origin: 'https://evil.test' }), 403);
    await refused(visitor.submit(form, { 'sec-fetch-site': 'cross-site' }), 403);
    await refused(browser('127.0.0.11').submit(form), 403);
    await refused(visitor.submit({ ...form, fields: new URLSearchParams({ password: 'open sesame' }) }), 403);
    await refused(visitor.submit({ ...form, action: `${page(tunnel)}/proof/${otherPolicy.id}` }), 404);
    await refused(visitor.submit({ ...form, action: `${page(other)}/proof/${policy.id}` }), 404);
    await refused(visitor.submit({ ...form, action: `${page(other)}/proof/${otherPolicy.id}` }), 403);
    await refused(visitor.submit(form, { 'content-type': 'text/plain' }), 415);
    await refused(visitor.ask({ method: 'PUT', path: form.action }), 405);
    const long = new URLSearchParams([...form.fields, ['x', 'y'.repeat(10_000)]]);
    await refused(visitor.submit({ ...form, fields: long }), 413);
    expect(await grants(tunnel)).toEqual([]);
    await refused(visitor.submit(form), 303);
  });

  it('admits the requesting address, whatever the form says, and no page of another site', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    const policy = await guard(tunnel);
    const visitor = browser('127.0.0.13');
    const form = formOf(await visitor.ask({ path: `${page(tunnel)}?ip=203.0.113.1&address=203.0.113.1` }));
    for (const name of ['ip', 'address', 'client']) form.fields.set(name, '203.0.113.1');
    form.fields.set('password', 'open sesame');
    form.fields.set('next', 'https://evil.test/');
    const answer = await visitor.submit(
      { ...form, action: `${form.action}?ip=203.0.113.1` },
      { 'x-real-ip': '203.0.113.1' },
    );
    expect(answer).toMatchObject({ status: 303, headers: { location: page(tunnel) } });
    expect((await grants(tunnel)).map(({ address }) => address)).toEqual(['127.0.0.13']);
    const cors = { origin: 'https://evil.test', 'access-control-request-method': 'POST' };
    for (const method of ['GET', 'OPTIONS', 'POST']) {
      const { headers } = await browser().ask({ method, path: form.action, headers: cors });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
    const shown = JSON.stringify([
      (await world.admin('GET', `/auth-policies/${policy.id}`)).body,
      await browser().ask({ path: page(tunnel) }),
    ]);
    expect(shown).not.toMatch(/argon2|open sesame/);
  });

  it('grants no extra guesses to concurrent requests', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    await guard(tunnel);
    const visitor = browser('127.0.0.14');
    const form = formOf(await visitor.ask({ path: page(tunnel) }));
    const guesses = Array.from({ length: 20 }, (_, count) => {
      const fields = new URLSearchParams(form.fields);
      fields.set('password', `guess ${count}`);
      return visitor.submit({ ...form, fields });
    });
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    // Eight of one client are looked at together.
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(5);
    expect(statuses.every((status) => [401, 429, 503].includes(status))).toBe(true);
    expect((await visitor.submit(form)).status).toBe(429);
  });

  it('reveals nothing about tunnels that are missing, private, open or stopped', async () => {
    const [open, stopped] = [await world.tunnel(clientId, echo), await world.tunnel(clientId, echo)];
    await guard(stopped);
    await world.admin('POST', `/tunnels/${stopped.id}/stop`);
    const { body: secret } = await world.admin('POST', '/tunnels', {
      client_id: clientId,
      mode: 'secret',
      target_addr: '127.0.0.1:22',
    });
    const answers = new Set<string>();
    for (const id of [open.id, stopped.id, secret.id, 999_999, 0, '1e3', '../1', '99999999999999999999']) {
      const { status, body } = await browser().ask({ path: `/visit/tunnel/${id}` });
      answers.add(`${status} ${body}`);
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).toMatch(/^404 /);
    for (const path of [
      '/visit/',
      '/visit/oauth/callback',
      '/visit/oauth/callback?state=999999.2.x',
      '/visit/tunnel',
    ]) {
      expect((await browser().ask({ path })).status).toBe(404);
    }
  });

  it('uses the policies of its client if it has none', async () => {
    const client = await world.client({ name: 'guarded' });
    await world.online(client.key);
    const tunnel = await world.tunnel(client.id, echo);
    await guard(tunnel, { resource_type: 'client', resource_id: client.id });
    await browser().prove('open sesame', page(tunnel));
    await waitFor(() => isIn(tunnel), { timeoutMs: 1_000 });
  });

  it('has no grant of an outdated version, however changes and proofs coincide', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    const policy = await guard(tunnel);
    const proofs = Array.from({ length: 20 }, async (_, count) =>
      browser(`127.0.1.${count + 1}`).prove('open sesame', page(tunnel)),
    );
    const changes = Array.from({ length: 10 }, async (_, count) =>
      world.admin('PATCH', `/auth-policies/${policy.id}`, { ttl_seconds: 60 + count }),
    );
    const answers = await Promise.all(proofs);
    await Promise.all(changes);
    expect(answers.every(({ status }) => [303, 401, 403].includes(status))).toBe(true);
    const strange = await world.rows(
      `SELECT g.* FROM tunnel_gateway_ops.visitor_grants g JOIN tunnel_gateway.auth_policies p ON p.id = g.policy_id
       WHERE g.tunnel_id = $1 AND g.policy_version <> (extract(epoch FROM p.updated_at) * 1000)::bigint`,
      [tunnel.id],
    );
    expect(strange).toEqual([]);
  });

  it('receives many grants at once, from any service', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    const policy = await guard(tunnel);
    await world.rows(
      `INSERT INTO tunnel_gateway_ops.visitor_grants (tunnel_id, policy_id, address, policy_version, until, once)
       SELECT $1, p.id, '127.0.0.' || number, (extract(epoch FROM p.updated_at) * 1000)::bigint,
         now() + interval '1 hour', false
       FROM tunnel_gateway.auth_policies p, generate_series(1, 250) AS number WHERE p.id = $2`,
      [tunnel.id, policy.id],
    );
    await waitFor(() => isIn(tunnel), { timeoutMs: 1_000 });
    // Twenty in a message, several messages.
    await world.rows(`DELETE FROM tunnel_gateway_ops.visitor_grants WHERE tunnel_id = $1 AND address = ANY ($2)`, [
      tunnel.id,
      Array.from({ length: 50 }, (_, index) => `127.0.0.${50 - index}`),
    ]);
    await waitFor(async () => !(await isIn(tunnel)), { timeoutMs: 1_000 });
  });

  it('deletes grants and guesses when they expire', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    await guard(tunnel);
    await browser('127.0.0.12').prove('open sesame', page(tunnel));
    await world.rows(`UPDATE tunnel_gateway_ops.visitor_grants SET until = now() - interval '1 s'
      WHERE tunnel_id = ${tunnel.id}`);
    await world.rows(`UPDATE tunnel_gateway_ops.visitor_tries SET since = now() - interval '2 hours'`);
    const swept = await world.gateway.app.get(Retention, { strict: false }).sweep();
    expect(swept.grants).toBeGreaterThan(0);
    expect(swept.tries).toBeGreaterThan(0);
    expect(await grants(tunnel)).toEqual([]);
  });
});

describe('the same password', () => {
  it('admits datagrams', async () => {
    const target = createSocket('udp4').bind(0, '127.0.0.1');
    target.on('message', (data, { port, address }) => target.send(data, port, address));
    await once(target, 'listening');
    const visitor = createSocket('udp4');
    world.onClose(() => [target, visitor].map((socket) => socket.close()));
    let answers = 0;
    visitor.on('message', () => (answers += 1));
    const tunnel = await world.tunnel(clientId, target.address().port, { mode: 'udp' });
    const isAnswered = async (): Promise<boolean> => {
      const before = answers;
      visitor.send('ping', tunnel.listen_port, '127.0.0.1');
      return waitFor(() => answers > before, { timeoutMs: 200 }).catch(() => false);
    };
    await waitFor(isAnswered);
    const { body: policy } = await world.admin('POST', '/auth-policies', {
      resource_type: 'tunnel',
      resource_id: tunnel.id,
      type: 'password',
      password: 'open sesame',
    });
    await waitFor(async () => !(await isAnswered()));
    await browser().prove('open sesame', page(tunnel));
    await waitFor(isAnswered, { timeoutMs: 2_000 });
    await world.admin('PATCH', `/auth-policies/${policy.id}`, { ttl_seconds: 60 });
    await waitFor(async () => !(await isAnswered()), { timeoutMs: 2_000 });
  });

  it('is also asked for on the tunnel’s own port, and its grant outlives the edge', async () => {
    const tunnel = await world.tunnel(clientId, echo);
    await guard(tunnel);
    const visitor = new VisitorBrowser({ port: tunnel.listen_port, host: `127.0.0.1:${tunnel.listen_port}` });
    expect(await visitor.prove('open sesame')).toMatchObject({ status: 303 });
    expect(await isIn(tunnel)).toBe(true);
    await waitFor(async () => (await grants(tunnel)).length === 1);
    const before = world.edges.pid;
    process.kill(before ?? 0, 'SIGKILL');
    await waitFor(() => world.edges.pid !== null && world.edges.pid !== before);
    await waitFor(() => isIn(tunnel), { timeoutMs: 10_000 });
  });

  it('works at each of several edge processes', async () => {
    await using several = await TunnelWorld.start({ TUNNEL_EDGE_WORKERS: '2' });
    const { port, host } = new URL(several.gateway.url);
    for (let count = 0; count < 2; count += 1) {
      const client = await several.client({ name: `client ${count}` });
      await several.online(client.key);
      const tunnel = await several.tunnel(client.id, await several.echo());
      const ask = async (): Promise<boolean> => (await several.ask(tunnel.listen_port, 'ping')) === 'ping';
      await several.admin('POST', '/auth-policies', {
        resource_type: 'client',
        resource_id: client.id,
        type: 'password',
        password: 'open sesame',
      });
      await waitFor(async () => !(await ask()));
      await new VisitorBrowser({ port: Number(port), host }).prove('open sesame', page(tunnel));
      await waitFor(ask, { timeoutMs: 1_000 });
    }
  });
});

describe('without the database', () => {
  it('admitted visitors stay, and nobody else is admitted', async () => {
    let line: DatabaseLine | undefined;
    await using away = await TunnelWorld.start({}, async (url) => {
      line = await DatabaseLine.to(url);
      return line.url;
    });
    away.onClose(() => line?.close());
    const client = await away.client();
    await away.online(client.key);
    const tunnel = await away.tunnel(client.id, await away.echo());
    await away.admin('POST', '/auth-policies', {
      resource_type: 'tunnel',
      resource_id: tunnel.id,
      type: 'password',
      password: 'open sesame',
    });
    const ask = async (): Promise<boolean> => (await away.ask(tunnel.listen_port, 'ping')) === 'ping';
    await waitFor(async () => !(await ask()));
    const { port, host } = new URL(away.gateway.url);
    const visitor = new VisitorBrowser({ port: Number(port), host });
    const form = formOf(await visitor.ask({ path: page(tunnel) }));
    form.fields.set('password', 'open sesame');
    line?.cut();
    expect((await visitor.submit(form)).status).toBe(503);
    expect(await ask()).toBe(false);
    line?.mend();
    await waitFor(async () => (await visitor.submit(form)).status === 303);
    await waitFor(ask);
    line?.cut();
    expect(await ask()).toBe(true);
    line?.mend();
  });
});
