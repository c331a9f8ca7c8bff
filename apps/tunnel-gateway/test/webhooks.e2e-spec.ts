import { Jobs } from '@gatehouse/jobs';
import { isSignedBy, waitFor, WebhookReceiver } from '@gatehouse/testing';
import { MAX_ATTEMPTS, WebhookFanOut } from '@gatehouse/webhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EventLog } from '../src/events/event-log.js';
import { TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

let world: TunnelWorld;
let log: EventLog;
let ann: { call: Caller; id: number };
let receiver: WebhookReceiver;
beforeAll(async () => {
  world = await TunnelWorld.start();
  log = world.gateway.app.get(EventLog, { strict: false });
  ann = await world.user('ann');
});
afterAll(() => world.close());
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
});
afterEach(async () => {
  await world.rows('DELETE FROM tunnel_gateway_ops.webhooks');
  await receiver[Symbol.asyncDispose]();
});

async function hook(body: object = {}, call = world.admin): Promise<AnyJson> {
  const answer = await call('POST', '/webhooks', { name: 'chat', url: receiver.url, ...body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

const happens = (message: string, ownerUserId: number | null = null): Promise<void> =>
  log.record({ type: 'tunnel.failed', resource: { kind: 'tunnel', id: 1 }, ownerUserId, message });

const deliveries = async (id: number): Promise<AnyJson[]> =>
  (await world.admin('GET', `/webhooks/${id}/deliveries`)).body.items;

/** What is due is sent now, without the wait. */
async function hurry(id: number): Promise<void> {
  await world.rows(
    `UPDATE tunnel_gateway_ops.webhook_deliveries SET next_attempt_at = now() - interval '1 minute'
     WHERE webhook_id = $1 AND status = 'pending'`,
    [id],
  );
  await world.gateway.app.get(Jobs).add('webhook-fan-out', { requestedAt: Date.now() });
}

describe('webhooks', () => {
  it('receive the requested events, signed', async () => {
    const { secret, id } = await hook({ event_types: ['tunnel.failed'] });
    await log.record({ type: 'host.updated', resource: null, ownerUserId: null, message: 'not asked for' });
    await happens('port taken', ann.id);
    const [message] = await waitFor(() => (receiver.received.length > 0 ? receiver.received : null));
    if (!message) throw new Error('nothing came');
    expect(message.body).toMatchObject({
      type: 'tunnel.failed',
      data: { message: 'port taken', resource_type: 'tunnel', owner_user_id: ann.id },
    });
    expect(isSignedBy(secret, message)).toBe(true);
    expect(isSignedBy('whsec_AAAA', message)).toBe(false);
    const [sent] = await waitFor(async () => {
      const all = await deliveries(id);
      return all[0]?.status === 'delivered' ? all : null;
    });
    expect(sent).toMatchObject({ attempts: 1, response_status: 204, error: null, type: 'tunnel.failed' });
    expect(message.headers['webhook-id']).toBe(`whd_${sent.id}`);
    expect(receiver.received).toHaveLength(1);
  });

  it('never show their secret again', async () => {
    const { secret, id } = await hook();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const answers = [await world.admin('GET', `/webhooks/${id}`), await world.admin('GET', '/webhooks')];
    expect(JSON.stringify(answers)).not.toMatch(/secret|whsec/);
    const [row] = await world.rows('SELECT sealed_secret FROM tunnel_gateway_ops.webhooks WHERE id = $1', [id]);
    expect(Buffer.from(row.sealed_secret, 'base64').includes(secret)).toBe(false);
    expect(row.sealed_secret).not.toContain(secret.slice(6));
    const rotated = (await world.admin('POST', `/webhooks/${id}/rotate-secret`)).body.secret;
    await world.admin('POST', `/webhooks/${id}/test`);
    const [message] = receiver.received;
    if (!message) throw new Error('nothing came');
    expect([isSignedBy(secret, message), isSignedBy(rotated, message)]).toEqual([false, true]);
  });

  it('are retried with the same message', async () => {
    receiver.answers.push(500, 302);
    const { id } = await hook();
    await happens('again');
    for (let attempt = 1; attempt <= 2; attempt++) {
      const [waiting] = await waitFor(async () => {
        const all = await deliveries(id);
        return all[0]?.response_status === (attempt === 1 ? 500 : 302) ? all : null;
      });
      expect(waiting).toMatchObject({ status: 'pending', response_status: attempt === 1 ? 500 : 302 });
      expect(Date.parse(waiting.next_attempt_at)).toBeGreaterThan(Date.now() + 3_000);
      await hurry(id);
    }
    await waitFor(async () => (await deliveries(id))[0]?.status === 'delivered');
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook']);
    expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('are given up after many attempts, with a record, until a delivery succeeds', async () => {
    receiver.answers.push(500, 500);
    const { id } = await hook();
    await happens('in vain');
    await waitFor(async () => (await deliveries(id))[0]?.response_status === 500);
    await world.rows('UPDATE tunnel_gateway_ops.webhook_deliveries SET attempts = $1 WHERE webhook_id = $2', [
      MAX_ATTEMPTS - 1,
      id,
    ]);
    await hurry(id);
    const dead = await waitFor(async () => {
      const { body } = await world.admin('GET', `/webhooks/${id}/deliveries?status=dead`);
      return body.items[0];
    });
    expect(dead).toMatchObject({ attempts: MAX_ATTEMPTS, error: 'the answer was 500', next_attempt_at: null });
    expect((await world.admin('GET', `/webhooks/${id}`)).body.failing_since).not.toBeNull();
    expect((await world.admin('POST', `/webhooks/${id}/test`)).body.status).toBe('delivered');
    expect((await world.admin('GET', `/webhooks/${id}`)).body.failing_since).toBeNull();
  });

  it('with a secret that cannot be opened are given up and cleaned up', async () => {
    const { id } = await hook();
    await world.rows(`UPDATE tunnel_gateway_ops.webhooks SET sealed_secret = 'of another key' WHERE id = $1`, [id]);
    await happens('unsigned');
    const waiting = await waitFor(async () => {
      const [first] = await deliveries(id);
      return first?.error && first;
    });
    expect(waiting).toMatchObject({ status: 'pending', error: 'internal: see the log of the service' });
    await world.rows('UPDATE tunnel_gateway_ops.webhook_deliveries SET attempts = $1', [MAX_ATTEMPTS - 1]);
    await hurry(id);
    await waitFor(async () => (await deliveries(id))[0]?.status === 'dead');
    expect(receiver.received).toEqual([]);
  });

  it('send nothing signed with a secret that was copied from another webhook', async () => {
    const [one, other] = [await hook(), await hook({ name: 'other' })];
    await world.rows(
      `UPDATE tunnel_gateway_ops.webhooks a SET sealed_secret = b.sealed_secret FROM tunnel_gateway_ops.webhooks b
       WHERE (a.id, b.id) IN (($1::bigint, $2::bigint), ($2, $1))`,
      [one.id, other.id],
    );
    await happens('moved');
    for (const { id } of [one, other]) {
      await waitFor(async () => (await deliveries(id))[0]?.error === 'internal: see the log of the service');
    }
    expect(receiver.received).toEqual([]);
  });

  it('whose every attempt ended with its process are given up', async () => {
    receiver.answers.push(500);
    const { id } = await hook();
    await happens('deadly');
    await waitFor(async () => (await deliveries(id))[0]?.response_status === 500);
    await world.rows('UPDATE tunnel_gateway_ops.webhook_deliveries SET attempts = $1', [MAX_ATTEMPTS]);
    await hurry(id);
    await waitFor(async () => (await deliveries(id))[0]?.status === 'dead');
    expect(receiver.received).toHaveLength(1);
  });

  it('get nothing more after they answer 410', async () => {
    receiver.answers.push(410);
    const { id } = await hook();
    await happens('gone');
    await waitFor(async () => (await world.admin('GET', `/webhooks/${id}`)).body.status === 0);
    expect(await deliveries(id)).toMatchObject([{ status: 'dead', attempts: 1 }]);
    expect((await world.admin('POST', `/webhooks/${id}/test`)).status).toBe(409);
  });

  it('that a user disabled are not reported as failing', async () => {
    receiver.answers.push(500);
    const { id } = await hook();
    await happens('too late');
    await waitFor(async () => (await deliveries(id))[0]?.response_status === 500);
    await world.admin('PATCH', `/webhooks/${id}`, { status: 0 });
    await hurry(id);
    await waitFor(async () => (await deliveries(id))[0]?.status === 'dead');
    expect((await world.admin('GET', `/webhooks/${id}`)).body.failing_since).toBeNull();
  });

  it('get one delivery per event, however often it is queued', async () => {
    const { id } = await hook({ status: 1, event_types: ['tunnel.failed'] });
    await Promise.all(Array.from({ length: 250 }, (_, i) => happens(`flood ${i}`)));
    const fanOut = world.gateway.app.get(WebhookFanOut, { strict: false });
    await Promise.all([fanOut.run(), fanOut.run(), fanOut.run()]);
    const [count] = await world.rows(
      'SELECT count(*)::int AS all, count(DISTINCT event_id)::int AS events FROM tunnel_gateway_ops.webhook_deliveries WHERE webhook_id = $1',
      [id],
    );
    expect(count).toEqual({ all: 250, events: 250 });
    const arrived = (): number => new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size;
    await waitFor(() => arrived() === 250, { timeoutMs: 20_000 });
  });

  it('of one owner that never answer leave room for those of others', async () => {
    const eve = await world.user('eve', 'admin');
    await using deaf = await WebhookReceiver.start();
    deaf.silent = true;
    for (let i = 0; i < 20; i++) await hook({ url: deaf.url });
    await hook({}, eve.call);
    await happens('for all');
    await waitFor(() => receiver.received.length === 1);
    await waitFor(() => deaf.received.length === 4);
    await world.rows('DELETE FROM tunnel_gateway_ops.webhooks');
  });

  it('get deliveries that waited while no worker ran', async () => {
    const { id } = await hook();
    await world.rows(
      `INSERT INTO tunnel_gateway_ops.webhook_deliveries (webhook_id, event_id, type, body, next_attempt_at)
       VALUES ($1, 999999, 'tunnel.failed', '{}', now() - interval '1 hour')`,
      [id],
    );
    await hurry(id);
    await waitFor(() => receiver.received.length === 1);
  });
});

describe('webhooks of users who are not administrators', () => {
  /** As if the address had been public when it was given. */
  const lead = (id: number, url: string): Promise<unknown> =>
    world.rows('UPDATE tunnel_gateway_ops.webhooks SET url = $1 WHERE id = $2', [url, id]);
  const public_ = { url: 'https://hooks.example.org/x' };

  it('cannot lead into the network of the gateway, neither when created nor when called', async () => {
    for (const url of [receiver.url, `https://127.0.0.1:${receiver.port}/`, 'https://[::1]/', 'https://localhost/']) {
      expect((await ann.call('POST', '/webhooks', { name: 'x', url })).status, url).toBe(422);
    }
    const { id } = await hook(public_, ann.call);
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1']) {
      for (const scheme of ['http', 'https']) {
        await lead(id, `${scheme}://${host}:${receiver.port}/`);
        const { body } = await ann.call('POST', `/webhooks/${id}/test`);
        expect(body, host).toMatchObject({ status: 'dead', response_status: null });
      }
    }
    expect(receiver.connections).toBe(0);
  });

  it('receive only events that their owner may see', async () => {
    const { id } = await hook(public_, ann.call);
    await happens('of nobody');
    await happens('of ann', ann.id);
    const [only, ...others] = await waitFor(async () => {
      const all = await deliveries(id);
      return all.length > 0 ? all : null;
    });
    expect(others).toEqual([]);
    const [row] = await world.rows('SELECT body FROM tunnel_gateway_ops.webhook_deliveries WHERE id = $1', [only.id]);
    expect(JSON.parse(row.body).data.message).toBe('of ann');
  });

  it('are visible only to their owner', async () => {
    const mine = await hook();
    const theirs = await hook(public_, ann.call);
    expect((await ann.call('GET', '/webhooks')).body.items.map(({ id }: { id: number }) => id)).toEqual([theirs.id]);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'y' }],
      ['DELETE', '', undefined],
      ['POST', '/rotate-secret', undefined],
      ['POST', '/test', undefined],
      ['GET', '/deliveries', undefined],
    ] as const) {
      expect((await ann.call(method, `/webhooks/${mine.id}${path}`, body)).status, path).toBe(404);
    }
    expect((await world.admin('PATCH', `/webhooks/${theirs.id}`, { status: 0 })).body.status).toBe(0);
    const viewer = await world.user('vera', 'viewer');
    expect((await viewer.call('POST', '/webhooks', { name: 'x', ...public_ })).status).toBe(403);
  });

  it('are limited to twenty', async () => {
    for (let i = 0; i < 20; i++) await hook(public_, ann.call);
    expect((await ann.call('POST', '/webhooks', { name: 'x', ...public_ })).status).toBe(409);
  });
});
