import { Jobs } from '@gatehouse/jobs';
import { createLogger, rootModule } from '@gatehouse/platform';
import { waitFor } from '@gatehouse/testing';
import { NestFactory } from '@nestjs/core';
import { expect, it } from 'vitest';
import { WorkerModule } from '../src/app.module.js';
import { ProxyGatewaySettings } from '../src/settings.js';
import { startGateway } from './support/gateway.js';
import { closedPort, startTestOrigin } from './support/test-nodes.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';

it('runs the jobs of a service without workers', async () => {
  await using origin = await startTestOrigin();
  await using upstream = await startUpstreamProxy();
  await using gateway = await startGateway({ WORKERS: 'separate' });
  await gateway.call('PUT', '/settings', {
    'health.url': origin.url,
    'health.interval_sec': '86400',
    'country.exit_url': origin.url,
  });
  const add = async (port: number) =>
    (await gateway.call('POST', '/proxies', { raw_config: `http://127.0.0.1:${port}` })).body;
  const [dead, living] = [await add(await closedPort()), await add(upstream.port)];
  const members = [`n${dead.id}`, `n${living.id}`];
  await gateway.call('POST', '/outbound/groups', { name: 'FOLLOWS', type: 'fallback', members });
  const { job_id } = (await gateway.call('POST', '/proxies/test-all')).body;
  const status = async (): Promise<string> => (await gateway.call('GET', `/jobs/${job_id}`)).body.status;
  expect(await status()).toBe('queued');

  const settings = gateway.app.app.get(ProxyGatewaySettings, { strict: false });
  const logger = createLogger({ name: 'worker test', settings });
  const root = rootModule({ module: WorkerModule.forRoot(settings) }, logger);
  const worker = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  try {
    await waitFor(async () => (await status()) === 'done', { timeoutMs: 15_000 });
    expect((await gateway.call('GET', '/proxies')).body.items).toMatchObject([{ alive: false }, { alive: true }]);
    // The kernel is in the other process and is still notified.
    const now = async () => (await gateway.kernel.groupsInUse()).find(({ name }) => name === 'FOLLOWS')?.now;
    await waitFor(async () => (await now()) === `n${living.id}`);
    await waitFor(async () => (await worker.get(Jobs).unfinished('country-detection')).length === 0);
    expect((await gateway.call('POST', '/proxies/rebuild-countries')).status).toBe(200);
  } finally {
    await worker.close();
  }
});
