import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { findPeer, programEnvironment, reservePort, waitFor } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RunningResourceSharing, type Demonstration } from '../support/resource-sharing.js';

const example = (name: string): string => fileURLToPath(new URL(`../../docs/examples/${name}`, import.meta.url));
const callbackAt = (port: number): string => `http://127.0.0.1:${port}/callback`;

/** A program of docs/examples, with what it prints. */
class Example {
  printed = '';
  readonly ended: Promise<number | null>;
  readonly child: ChildProcess;

  constructor(command: string, args: string[], env: Record<string, string>) {
    this.child = spawn(command, args, {
      env: programEnvironment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer): void => void (this.printed += chunk.toString());
    this.child.stdout?.on('data', keep);
    this.child.stderr?.on('data', keep);
    this.ended = once(this.child, 'close').then(([code]) => code as number | null);
  }

  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const found = waitFor(() => pattern.exec(this.printed) ?? undefined);
    const early = this.ended.then(
      (code) => pattern.exec(this.printed) ?? Promise.reject(new Error(`${code}: ${this.printed}`)),
    );
    return (await Promise.race([found, early])) as RegExpExecArray;
  }

  async stop(): Promise<void> {
    this.child.kill();
    await this.ended;
  }
}

/** A browser at the example's own pages. */
class Visitor {
  #cookie = '';
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  async get(address: string): Promise<Response> {
    return this.#send(address, {});
  }

  async post(address: string, body: Record<string, string> = {}): Promise<Response> {
    return this.#send(address, { method: 'POST', body: new URLSearchParams(body) });
  }

  async text(address: string): Promise<string> {
    return (await this.get(address)).text();
  }

  async #send(address: string, init: RequestInit): Promise<Response> {
    const headers = { cookie: this.#cookie };
    const answer = await fetch(new URL(address, this.#base), { ...init, headers, redirect: 'manual' });
    this.#cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? this.#cookie;
    return answer;
  }
}

describe('the third-party applications of docs/examples', () => {
  let service: RunningResourceSharing;
  let demo: Demonstration;
  let port: number;
  const running: Example[] = [];

  beforeAll(async () => {
    service = await RunningResourceSharing.start();
    port = await reservePort();
    demo = await service.seedDemo([callbackAt(port)]);
  });
  afterEach(async () => {
    for (const one of running.splice(0)) await one.stop();
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  const start = (command: string, args: string[], env: Record<string, string> = {}): Example => {
    const setup = { SHARING_URL: service.url, CLIENT_ID: demo.client.id, CLIENT_SECRET: demo.client.secret };
    const one = new Example(command, args, { ...setup, ...env });
    running.push(one);
    return one;
  };

  describe('in TypeScript', () => {
    const startApplication = async (): Promise<Visitor> => {
      const application = start(process.execPath, [example('third-party-app.ts')], { PORT: String(port) });
      await application.says(/Open http/);
      return new Visitor(`http://127.0.0.1:${port}`);
    };
    const connect = async (visitor: Visitor, decision: 'allow' | 'deny'): Promise<Response> => {
      const question = (await visitor.get('/connect')).headers.get('location') ?? '';
      return visitor.get((await demo.viewer.decide(question, decision)).href);
    };

    it('connects, unlocks, refreshes and disconnects', async () => {
      const visitor = await startApplication();
      expect(await visitor.text('/')).toContain('Connect your account');
      expect((await connect(visitor, 'allow')).headers.get('location')).toBe('/');
      expect(await visitor.text('/')).toMatch(/Connected as demo-viewer, \d+ points; allowed: meta query unlock vip/);

      const list = await visitor.text('/resources?tmdb_id=19995');
      expect(list).toContain('Demo film, for points');
      const [, slug = ''] = /for points[^\n]*name="slug" value="([0-9a-f]{32})"/.exec(list) ?? [];
      expect(await (await visitor.post('/unlock', { slug })).text()).toMatch(
        /Unlocked: <code>https:\/\/pan\.quark\.cn/,
      );
      expect(await (await visitor.post('/unlock', { slug })).text()).toContain('It was yours already');

      expect((await visitor.post('/refresh')).status).toBe(303);
      expect(await visitor.text('/')).toContain('Connected as demo-viewer, 990 points');
      expect((await visitor.post('/disconnect')).status).toBe(303);
      expect(await visitor.text('/')).toContain('Connect your account');
    });

    it('refreshes once when its access token has expired, and asks again after the user has revoked it', async () => {
      const visitor = await startApplication();
      await connect(visitor, 'allow');
      const refreshes =
        'SELECT count(*)::integer AS n FROM resource_sharing.refresh_tokens WHERE consumed_at IS NOT NULL';
      const [before] = await service.query(refreshes);
      await service.query('UPDATE resource_sharing.access_tokens SET expires_at = now()');
      const pages = await Promise.all([visitor.text('/'), visitor.text('/'), visitor.text('/resources?tmdb_id=1')]);
      expect(pages.filter((page) => page.includes('OPENAPI'))).toEqual([]);
      expect(await service.query(refreshes)).toEqual([{ n: Number(before?.['n']) + 1 }]);

      await demo.viewer.call('DELETE', `/api/site/grants/applications/${demo.client.id}`);
      expect(await visitor.text('/')).toContain('OPENAPI_REAUTH_REQUIRED');
      expect(await visitor.text('/')).toContain('Connect your account');
    });

    it('reports a denial, and accepts no answer that it did not request', async () => {
      const visitor = await startApplication();
      const denied = await connect(visitor, 'deny');
      expect([denied.status, await denied.text()]).toEqual([400, expect.stringContaining('Not authorised')]);

      const question = (await visitor.get('/connect')).headers.get('location') ?? '';
      const callback = await demo.viewer.decide(question, 'allow');
      const stranger = new Visitor(`http://127.0.0.1:${port}`);
      expect(await stranger.text(callback.href)).toContain('This answer was not asked for');
      callback.searchParams.set('iss', 'https://another.example');
      expect(await visitor.text(callback.href)).toContain('This answer is from https://another.example');
      expect(await visitor.text('/')).toContain('Connect your account');
    });
  });

  describe('in Python', () => {
    it('authorizes, unlocks, refreshes and revokes', async (context) => {
      const python = findPeer('python3') ?? context.skip('this machine has no python3');
      const program = start(python, [example('third_party_app.py'), '--port', String(port)]);
      const [question] = await program.says(/http\S+authorize\S+/);
      const page = await fetch(await demo.viewer.decide(question, 'allow'));
      expect(await page.text()).toContain('Done');
      expect(await program.ended).toBe(0);
      const lines = program.printed.split('\n').slice(2);
      expect(lines).toEqual([
        'Authorised for: meta query unlock',
        'Ping: pong',
        'Resources: 2',
        expect.stringMatching(/^Demo film, .*(is unlocked|was ours already): https:\/\//),
        'Refreshed; ping: pong',
        'Revoked.',
        '',
      ]);
    });

    it('reports a denial', async (context) => {
      const python = findPeer('python3') ?? context.skip('this machine has no python3');
      const program = start(python, [example('third_party_app.py'), '--port', String(port)]);
      const [question] = await program.says(/http\S+authorize\S+/);
      await fetch(await demo.viewer.decide(question, 'deny'));
      expect(await program.ended).toBe(1);
      expect(program.printed).toContain('(access_denied)');
    });
  });
});
