import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** As HEALTHCHECK of the image runs it: the built file, by Node alone. */
const PROGRAM = fileURLToPath(new URL('../../dist/health/check-ready.js', import.meta.url));

describe('check-ready', () => {
  let answer: { status: number; body: string };
  let asked: string[];
  let port: number;
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(answer.status).end(answer.body);
  });
  beforeEach(async () => {
    [answer, asked] = [{ status: 200, body: '{}' }, []];
    await once(server.listen(0, '127.0.0.1'), 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => server.close());

  async function check(): Promise<{ code: number | null; said: string }> {
    const args = [PROGRAM, `http://127.0.0.1:${port}/readyz`];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>]);
    return { code, said };
  }

  it('succeeds if the process is ready', async () => {
    expect(await check()).toEqual({ code: 0, said: '' });
    expect(asked).toEqual(['/readyz']);
  });

  it('fails with the reason if the process is not ready', async () => {
    answer = { status: 503, body: '{"failing":["queue"]}' };
    expect(await check()).toEqual({ code: 1, said: 'not ready: 503 {"failing":["queue"]}\n' });
  });

  it('fails if nothing listens', async () => {
    server.close();
    const { code, said } = await check();
    expect(code).toBe(1);
    expect(said).toContain('ECONNREFUSED');
  });
});
