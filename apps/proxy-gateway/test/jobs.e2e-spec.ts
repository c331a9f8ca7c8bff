import type { JobView, SpeedTestPayload } from '@gatehouse/contracts';
import { Jobs } from '@gatehouse/jobs';
import { HealthRegistry } from '@gatehouse/platform';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Answer, Gateway } from './support/gateway.js';
import { startProvider } from './support/provider.js';
import { startSilentServer, startTestOrigin } from './support/test-nodes.js';
import type { SilentServer, TestOrigin } from './support/test-nodes.js';

let gateway: Gateway;
let silent: SilentServer;
let origin: TestOrigin;
let adminKey: string;
let readKey: string;
beforeAll(async () => {
  gateway = await startGateway();
  [silent, origin] = await Promise.all([startSilentServer(), startTestOrigin()]);
  await gateway.call('PUT', '/settings', {
    'health.url': origin.url,
    'health.timeout_ms': '60000',
    'health.interval_sec': '86400',
    'country.exit_url': '',
  });
  adminKey = (await gateway.call('POST', '/api-keys', { name: 'all' })).body.key;
  readKey = (await gateway.call('POST', '/api-keys', { name: 'r', scopes: ['read'] })).body.key;
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const server of [silent, origin]) await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await gateway.call('POST', '/proxies/import', {
    mode: 'replace',
    text: `http://u:p@127.0.0.1:${silent.port}\nhttp://v:p@127.0.0.1:${silent.port}`,
  });
});

const get = (id: string): Promise<Answer<JobView>> => gateway.call('GET', `/jobs/${id}`);
const cancel = (id: string): Promise<Answer> => gateway.call('DELETE', `/jobs/${id}`);
const startTest = async (): Promise<string> => (await gateway.call('POST', '/proxies/test-all')).body.job_id;
const until = (id: string, status: JobView['status']): Promise<unknown> =>
  waitFor(async () => (await get(id)).body.status === status);
const as = (key: string, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${gateway.app.url}/api/v1${path}`, { ...init, headers: { 'x-api-key': key } });

interface SentEvent {
  id: string;
  event: string;
  data: JobView;
}

/** Yields events as they come, until the stream ends. */
async function* eventsOf(response: Response): AsyncGenerator<SentEvent> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const fields = Object.fromEntries(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => line.split(/: (.*)/s)),
      );
      text = text.slice(end + 2);
      if (fields['data'] !== undefined) yield { ...fields, data: JSON.parse(fields['data']) } as SentEvent;
    }
  }
}

async function all(events: AsyncIterable<SentEvent>): Promise<SentEvent[]> {
  const seen: SentEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

describe('GET /jobs/{id}', () => {
  it('follows a job from the beginning to its end', async () => {
    const id = await startTest();
    await until(id, 'running');
    expect((await get(id)).body).toMatchObject({
      job_id: id,
      type: 'speed-test',
      status: 'running',
      created_at: expect.any(String),
      started_at: expect.any(String),
      finished_at: null,
      duration_ms: expect.any(Number),
      error: null,
    });
    await cancel(id);
    await until(id, 'cancelled');
    expect((await get(id)).body).toMatchObject({ finished_at: expect.any(String), result: { tested: 0, results: [] } });
  });

  it('shows jobs of subscriptions, with their results only for callers that may write', async () => {
    await using provider = await startProvider();
    const { body } = await gateway.call('POST', '/subscriptions', {
      name: 's',
      url: provider.url,
      interval_sec: 3600,
      allow_private: true,
    });
    await gateway.call('POST', `/subscriptions/${body.id}/refresh`);
    const path = `/jobs/subscription-refresh.subscription-${body.id}-refresh`;
    expect(await (await as(adminKey, path)).json()).toMatchObject({
      type: 'subscription-refresh',
      status: 'done',
      result: { status: 'failed', reason: 'http_status' },
    });
    expect(await (await as(readKey, path)).json()).toMatchObject({ status: 'done', result: null });
    expect(await cancel(`subscription-refresh.subscription-${body.id}-refresh`)).toMatchObject({ status: 409 });
    await gateway.call('DELETE', `/subscriptions/${body.id}`);
  });

  it('answers 404 for other queues and for impossible ids', async () => {
    const hidden = await gateway.app.app
      .get(Jobs)
      .add('retention', { requestedAt: 1 }, { jobId: 'mine', delay: 60_000 });
    for (const id of [
      `retention.${hidden}`,
      'speed-test.none',
      'speed-test',
      'speed-test.',
      'speed-test.a%2F..%2Fb',
      `speed-test.${'x'.repeat(200)}`,
      'other.x',
      '1',
    ]) {
      for (const answer of [await get(id), await cancel(id), await gateway.call('GET', `/jobs/${id}/events`)]) {
        expect([answer.status, (answer as Answer).body.code], id).toEqual([404, 'NOT_FOUND']);
      }
    }
  });

  it.each(['limit=0', 'limit=501', 'offset=-1', 'offset=x', 'more=1'])('refuses ?%s', async (query) => {
    const { status, body }: Answer = await gateway.call('GET', `/jobs/speed-test.x?${query}`);
    expect([status, body.details[0].field]).toEqual([400, query.split('=')[0]]);
  });

  it('reports a failure without internal details', async () => {
    const jobs = gateway.app.app.get(Jobs);
    const payload = { trigger: 'manual', nodeIds: 5 } as unknown as { trigger: 'manual'; nodeIds: number[] };
    const id = await jobs.add('speed-test', payload, { jobId: 'broken', attempts: 1 });
    await until(`speed-test.${id}`, 'failed');
    const { body } = await get(`speed-test.${id}`);
    expect(body.error).toEqual({ code: 'INTERNAL', message: expect.not.stringContaining('iterable') });
    expect(await cancel(`speed-test.${id}`)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });
});

describe('jobs that exist once', () => {
  it.each(['test-all', 'rebuild-countries'])('are shared by concurrent requests for %s', async (path) => {
    const { body } = await gateway.call('POST', '/proxies/import?allow_empty=true', { mode: 'replace', nodes: [] });
    expect(body.removed).toBe(2);
    const answers = await Promise.all(Array.from({ length: 40 }, () => gateway.call('POST', `/proxies/${path}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe('DELETE /jobs/{id}', () => {
  it('ends a waiting job before it begins', async () => {
    const jobs = gateway.app.app.get(Jobs);
    const first = await startTest();
    await until(first, 'running');
    const waiting = `speed-test.${await jobs.add('speed-test', { trigger: 'manual' }, { jobId: 'waits', attempts: 1 })}`;
    expect((await get(waiting)).body.status).toBe('queued');
    expect((await cancel(waiting)).body).toMatchObject({ status: 'cancelled', started_at: null });
    expect((await cancel(waiting)).status).toBe(200);
    await cancel(first);
    await waitFor(async () => (await get(waiting)).body.finished_at !== null);
    expect((await get(waiting)).body).toMatchObject({ status: 'cancelled', result: { tested: 0, total: 0 } });
  });

  it('ends one run: a later job with the same name continues', async () => {
    const jobs = gateway.app.app.get(Jobs);
    const payload: SpeedTestPayload = { trigger: 'manual', nodeIds: [] };
    const first = await startTest();
    await until(first, 'running');
    const again = (): Promise<string> => jobs.add('speed-test', payload, { jobId: 'again', attempts: 1 });
    const id = `speed-test.${await again()}`;
    await cancel(id);
    await cancel(first);
    await waitFor(async () => (await get(id)).body.finished_at !== null);
    expect((await get(id)).body.status).toBe('cancelled');
    await again();
    await waitFor(async () => ['done', 'cancelled'].includes((await get(id)).body.status));
    expect((await get(id)).body.status).toBe('done');
  });

  it('needs more than the scope read, and a running job', async () => {
    const id = await startTest();
    expect((await as(readKey, `/jobs/${id}`, { method: 'DELETE' })).status).toBe(403);
    await cancel(id);
    await until(id, 'cancelled');
    expect((await cancel(id)).status).toBe(200);
    await gateway.call('POST', '/proxies/import?allow_empty=true', { mode: 'replace', nodes: [] });
    const { body } = await gateway.call('POST', '/proxies/test-all?wait=true');
    expect(await cancel(body.job_id)).toMatchObject({ status: 409, body: { error: expect.stringContaining('done') } });
  });
});

describe('GET /jobs/{id}/events', () => {
  it('sends the state of the job, every change and the end', async () => {
    const id = await startTest();
    const response = await as(readKey, `/jobs/${id}/events`);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const seen: SentEvent[] = [];
    for await (const event of eventsOf(response)) {
      seen.push(event);
      if (event.data.status === 'running' && event.data.progress !== null) await cancel(id);
    }
    expect(seen.at(-1)).toMatchObject({ event: 'end', data: { job_id: id, status: 'cancelled' } });
    expect(seen.slice(0, -1).every(({ event }) => event === 'progress')).toBe(true);
    expect(seen.map((event) => event.id)).toEqual(seen.map((_, index) => `${index + 1}`));
  });

  it('of a finished job reports that and ends', async () => {
    const id = await startTest();
    await cancel(id);
    await until(id, 'cancelled');
    const events = await all(eventsOf(await as(adminKey, `/jobs/${id}/events`)));
    expect(events).toMatchObject([{ event: 'end', data: { status: 'cancelled' } }]);
  });

  it('limits the number of streams, and frees their places', async () => {
    const id = await startTest();
    const controller = new AbortController();
    const { signal } = controller;
    const streams = await Promise.all(Array.from({ length: 64 }, () => as(readKey, `/jobs/${id}/events`, { signal })));
    expect(streams.every(({ status }) => status === 200)).toBe(true);
    const refused = await as(readKey, `/jobs/${id}/events`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    await refused.body?.cancel();
    controller.abort();
    await waitFor(async () => {
      const again = await as(readKey, `/jobs/${id}/events`);
      await again.body?.cancel();
      return again.status === 200;
    });
    await cancel(id);
    await until(id, 'cancelled');
  });

  it('ends when the service goes down', async () => {
    await using other = await startGateway();
    await other.call('PUT', '/settings', { 'health.timeout_ms': '60000', 'country.exit_url': '' });
    await other.call('POST', '/proxies', { raw_config: `http://u:p@127.0.0.1:${silent.port}` });
    const { key } = (await other.call('POST', '/api-keys', { name: 'all' })).body;
    const { job_id } = (await other.call('POST', '/proxies/test-all')).body;
    const response = await fetch(`${other.app.url}/api/v1/jobs/${job_id}/events`, { headers: { 'x-api-key': key } });
    const events = eventsOf(response);
    expect((await events.next()).done).toBe(false);
    other.app.app.get(HealthRegistry).startDraining();
    const rest = await all(events);
    expect(rest.every(({ event }) => event === 'progress')).toBe(true);
    await other.call('DELETE', `/jobs/${job_id}`);
  });
});
