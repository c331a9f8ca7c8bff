import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codeSamples, SAMPLE_ORIGIN } from './code-samples.js';

const run = promisify(execFile);
const SECURITY = [{ bearer: [] }, { api_key: [] }];
const BODY = { name: `O'Brien "x" \`y\` $HOME`, on: true, off: null, sizes: [1, 2], text: 'true and null' };
const OPERATION = {
  parameters: [
    { name: 'id', in: 'path', required: true, examples: { one: { value: 'a b' } } },
    { name: 'limit', in: 'query', examples: { one: { value: 5 } } },
    { name: 'unused', in: 'query' },
  ],
  requestBody: { content: { 'application/json': { examples: { one: { value: BODY } } } } },
};

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly type: string | undefined;
  readonly body: string;
}

describe('code samples', () => {
  const folder = mkdtempSync(join(tmpdir(), 'samples-'));
  let server: Server;
  let seen: Seen[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        const { method, url, headers } = request;
        seen.push({ method, url, authorization: headers.authorization, type: headers['content-type'], body });
        response.end('received');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => {
    seen = [];
  });
  afterAll(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  const sample = (label: string, method = 'post', operation: object = OPERATION): string => {
    const samples = codeSamples(method, '/notes/{id}', operation as never, SECURITY);
    const { port } = server.address() as AddressInfo;
    return samples.find((one) => one.label === label)!.source.replace(SAMPLE_ORIGIN, `http://127.0.0.1:${port}`);
  };
  const received = (): object => ({
    ...seen[0],
    body: seen[0]?.body === undefined ? undefined : (JSON.parse(seen[0].body) as unknown),
  });
  const SENT = {
    method: 'POST',
    url: '/notes/a%20b?limit=5',
    authorization: 'Bearer TOKEN',
    type: expect.stringMatching(/^application\/json/) as string,
    body: BODY,
  };

  it('of TypeScript run and send the request', async () => {
    const file = join(folder, 'sample.mts');
    writeFileSync(file, sample('TypeScript'));
    const { stdout } = await run(process.execPath, [file]);
    expect(stdout).toBe('200 received\n');
    expect(received()).toEqual(SENT);
  });

  it('of curl run in a shell and send the request', async (context) => {
    if (!(await exists('curl'))) return context.skip('curl is not installed');
    const { stdout } = await run('sh', ['-c', sample('curl')]);
    expect(stdout).toBe('received');
    expect(received()).toEqual(SENT);
  });

  it('of Python are valid, and send the request if requests is installed', async (context) => {
    if (!(await exists('python3'))) return context.skip('python3 is not installed');
    await run('python3', ['-c', 'import ast, sys; ast.parse(sys.argv[1])', sample('Python')]);
    if (!(await exists('python3', ['-c', 'import requests']))) return;
    const { stdout } = await run('python3', ['-c', sample('Python')]);
    expect(stdout).toBe('200 received\n');
    expect(received()).toEqual(SENT);
  });

  it('of Go are formatted as by gofmt', async (context) => {
    if (!(await exists('gofmt', ['-h']))) return context.skip('needs gofmt, which comes with Go');
    const file = join(folder, 'sample.go');
    writeFileSync(file, `${sample('Go')}\n`);
    expect((await run('gofmt', ['-l', file])).stdout).toBe('');
  });

  it('send both credentials if an operation accepts both, and none if it needs none', () => {
    const both = codeSamples('get', '/', { security: [{ api_key: [] }, { api_key: [], bearer: [] }] }, SECURITY);
    expect(both[0]?.source).toBe(
      `curl '${SAMPLE_ORIGIN}/' \\\n  -H 'X-API-Key: KEY' \\\n  -H 'Authorization: Bearer TOKEN'`,
    );
    expect(codeSamples('get', '/', { security: [] }, SECURITY)[0]?.source).toBe(`curl '${SAMPLE_ORIGIN}/'`);
  });
});

async function exists(program: string, words: string[] = ['--version']): Promise<boolean> {
  return run(program, words).then(
    () => true,
    (error: { code?: unknown }) => error.code !== 'ENOENT' && program === 'gofmt',
  );
}
