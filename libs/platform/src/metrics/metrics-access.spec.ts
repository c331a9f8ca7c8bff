import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { IsOptional } from 'class-validator';
import request, { type Response } from 'supertest';
import { afterEach, describe, expect, it } from 'vitest';
import { JsonLogger } from '../logging/json-logger.js';
import { createServiceApp } from '../service/create-service-app.js';
import { NotesModule } from '../service/notes.fixture.js';
import { loadSettings } from '../settings/load-settings.js';
import { Port } from '../settings/variable.js';
import { ServiceSettings } from '../settings/service-settings.js';
import { MetricsServer } from './metrics-server.js';

let app: NestExpressApplication;

class NotesSettings extends ServiceSettings {}
for (const decorate of [IsOptional(), Port('NOTES_METRICS_PORT')]) decorate(NotesSettings.prototype, 'metricsPort');

/** Asks a real server, whose connections seem to come from `address`. Without one they come from the loopback. */
async function ask(environment: Record<string, string>, address?: string, headers = {}): Promise<Response> {
  app = await createServiceApp({
    name: 'notes',
    module: NotesModule,
    settings: loadSettings(NotesSettings, { DATABASE_URL: 'postgres://localhost/none', ...environment }),
    logger: new JsonLogger({ service: 'notes', level: 'silent' }),
    http: { errorFormat: 'proxy' },
  });
  await app.init();
  const server: Server = app.getHttpServer();
  if (address !== undefined) {
    server.prependListener('connection', (socket: Socket) => {
      Object.defineProperty(socket, 'remoteAddress', { value: address });
    });
  }
  return request(server).get('/metrics').set(headers);
}

afterEach(() => app.close());

describe('/metrics on the public port', () => {
  it.each([undefined, '127.0.0.1', '127.8.0.1', '::1', '::ffff:127.0.0.1'])(
    'answers the loopback: %s',
    async (from) => {
      const answer = await ask({}, from);
      expect(answer.status).toBe(200);
      expect(answer.text).toContain('process_cpu_user_seconds_total');
    },
  );

  it.each(['192.0.2.7', '10.0.0.1', '::ffff:192.0.2.7', '2001:db8::1'])('is not found from %s', async (from) => {
    const answer = await ask({}, from);
    expect(answer.status).toBe(404);
    expect(answer.text).not.toContain('process_cpu');
    expect(answer.body).toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each(['X-Forwarded-For', 'X-Real-IP', 'Forwarded', 'Via'])(
    'is not found through a proxy with %s',
    async (name) => {
      const answer = await ask({ TRUSTED_PROXIES: '127.0.0.1' }, undefined, { [name]: '127.0.0.1' });
      expect(answer.status).toBe(404);
      expect(answer.text).not.toContain('process_cpu');
    },
  );

  it('answers everyone with METRICS_ON_PUBLIC_PORT=true', async () => {
    const answer = await ask({ METRICS_ON_PUBLIC_PORT: 'true' }, '192.0.2.7', { 'X-Forwarded-For': '192.0.2.8' });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('process_cpu_user_seconds_total');
  });
});

describe('/metrics on a separate port', () => {
  it('is not found on the public port, for any client', async () => {
    const answer = await ask({ NOTES_METRICS_PORT: '0' });
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is in the format of Prometheus, and the only thing served there', async () => {
    await ask({ NOTES_METRICS_PORT: '0' });
    const server = app.get(MetricsServer);
    await server.listen(0, '127.0.0.1');
    const base = `http://127.0.0.1:${server.port}`;
    const answer = await fetch(`${base}/metrics?name=x`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('version=0.0.4'),
    ]);
    expect(await answer.text()).toContain(
      'http_request_duration_seconds_count{method="GET",route="/metrics",status="404"} 1',
    );
    for (const path of ['/', '/healthz', '/constructor', '/metrics/'])
      expect((await fetch(base + path)).status).toBe(404);
  });
});
