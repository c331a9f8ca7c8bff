import { once } from 'node:events';
import { Agent, get, type ClientRequest, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { SecretBoxError } from '@gatehouse/net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { HealthRegistry } from '../health/health-registry.js';
import { JsonLogger } from '../logging/json-logger.js';
import { loadSettings } from '../settings/load-settings.js';
import { ServiceSettings } from '../settings/service-settings.js';
import { createServiceApp } from './create-service-app.js';
import { shutdownGracefully } from './graceful-shutdown.js';
import { NotesModule } from './notes.fixture.js';
import { StartError } from '../errors/start-error.js';
import { explainListenError, failureLines } from './start-failure.js';

interface SlowService {
  app: NestExpressApplication;
  port: number;
  /** Resolves with the answer to finish once a request has arrived. */
  arrived: Promise<Response>;
}

async function start(): Promise<SlowService> {
  const app = await createServiceApp({
    name: 'notes',
    module: NotesModule,
    settings: loadSettings(ServiceSettings, { DATABASE_URL: 'postgres://localhost/none' }),
    http: { errorFormat: 'proxy' },
    logger: new JsonLogger({ service: 'notes', level: 'silent' }),
  });
  const arrived = new Promise<Response>((resolve) => {
    app.use('/slow', (_request: Request, response: Response) => resolve(response));
  });
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return { app, port, arrived };
}

async function bodyOf(request: ClientRequest): Promise<string> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return text;
}

describe('shutdownGracefully', () => {
  it('finishes the running request, accepts no other, and reports not ready', async () => {
    const { app, port, arrived } = await start();
    const body = bodyOf(get({ port, host: '127.0.0.1', path: '/slow', agent: new Agent({ keepAlive: true }) }));
    const response = await arrived;
    const stopped = shutdownGracefully(app, { delayMs: 0, deadlineMs: 5_000 });
    expect(await app.get(HealthRegistry).report()).toMatchObject({ failing: ['shutdown'] });
    const refused = get({ port, host: '127.0.0.1', path: '/healthz' });
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
    response.end('finished');
    expect(await body).toBe('finished');
    await stopped;
  });

  it('accepts requests for a while after it has reported not ready, and ends their connections', async () => {
    const { app, port, arrived } = await start();
    const stopped = shutdownGracefully(app, { delayMs: 600_000, deadlineMs: 5_000 });
    // The delay outlives the test: only what happens during it matters.
    stopped.catch(() => undefined);
    const ready = get({ port, host: '127.0.0.1', path: '/readyz' });
    const [report] = (await once(ready, 'response')) as [IncomingMessage];
    expect([report.statusCode, report.headers.connection]).toEqual([503, 'close']);
    report.resume();
    const request = get({ port, host: '127.0.0.1', path: '/slow', agent: new Agent({ keepAlive: true }) });
    (await arrived).end('served');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect([response.statusCode, response.headers.connection]).toEqual([200, 'close']);
    response.resume();
    await app.close();
  });

  it('does not wait for idle connections', async () => {
    const { app, port } = await start();
    const agent = new Agent({ keepAlive: true });
    await bodyOf(get({ port, host: '127.0.0.1', path: '/healthz', agent }));
    const started = performance.now();
    await shutdownGracefully(app, { delayMs: 0, deadlineMs: 10_000 });
    expect(performance.now() - started).toBeLessThan(5_000);
    agent.destroy();
  });

  it('cuts open requests at the deadline', async () => {
    const { app, port, arrived } = await start();
    const request = get({ port, host: '127.0.0.1', path: '/slow' });
    const cut = once(request, 'error');
    await arrived;
    await shutdownGracefully(app, { delayMs: 0, deadlineMs: 100 });
    const [error] = (await cut) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
  });
});

describe('failed starts', () => {
  it('name the variable of a taken port', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const second = createServer().listen(port, '127.0.0.1');
    const [error] = (await once(second, 'error')) as [Error];
    const explained = explainListenError(error, { port, portVariable: 'NOTES_PORT', address: '127.0.0.1' });
    expect(failureLines(explained, 'en')).toEqual([
      `NOTES_PORT: port ${port} on 127.0.0.1 is in use by another program; set NOTES_PORT to a free port`,
    ]);
    expect(failureLines(explained, 'zh-CN')).toEqual([
      `NOTES_PORT: 127.0.0.1 的端口 ${port} 已被其他程序占用；请将 NOTES_PORT 设为空闲端口`,
    ]);
    taken.close();
  });

  it('name the variable of an address that this machine does not have', async () => {
    const [error] = (await once(createServer().listen(0, '192.0.2.7'), 'error')) as [Error];
    const target = { port: 9, portVariable: 'NOTES_METRICS_PORT', address: '192.0.2.7' };
    expect(failureLines(explainListenError(error, { ...target, addressVariable: 'METRICS_ADDRESS' }), 'en')).toEqual([
      'METRICS_ADDRESS: 192.0.2.7 is not an address of this machine',
    ]);
  });

  it('print one line per problem, and a stack only for unexpected errors', () => {
    expect(failureLines(new StartError('do this', '这样做'), 'en')).toEqual(['do this']);
    expect(failureLines(new StartError('do this', '这样做'), 'zh-CN')).toEqual(['这样做']);
    const sealed = new SecretBoxError('not-openable');
    expect(failureLines(sealed, 'en')).toEqual([sealed.message]);
    expect(failureLines(sealed, 'zh-CN')[0]).toContain('使用了另一个 GATEHOUSE_SECRET_KEY');
    const several = new AggregateError([new StartError('a', '甲'), new StartError('b', '乙')], '');
    expect(failureLines(several, 'en')).toEqual(['a', 'b']);
    expect(failureLines(several, 'zh-CN')).toEqual(['甲', '乙']);
    expect(failureLines(new Error('bug'), 'zh-CN')[0]).toContain('\n    at ');
  });
});
