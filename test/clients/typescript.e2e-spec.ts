import { execFile } from 'node:child_process';
import { mkdir, mkdtempDisposable, rename, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  everyItem,
  MemoryTokens,
  SharingClient,
  SharingError,
  SignInRequiredError,
  type SharingClientOptions,
  type Tokens,
} from '@gatehouse/sharing-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerClient, RunningResourceSharing, type Demonstration } from '../support/resource-sharing.js';

const GENERATOR = fileURLToPath(new URL('../../libs/sharing-client/generate.mjs', import.meta.url));
const CALLBACK = 'https://client.example/callback';
const SCOPES = ['meta', 'query', 'unlock', 'write', 'vip'];
const QUICK = { firstWaitMs: 5 };
const run = promisify(execFile);

/** The network between a client and the service, and what goes wrong in it. */
class Network {
  /** Method and path of each request that was sent. */
  readonly sent: string[] = [];
  readonly keys: (string | null)[] = [];
  /** Instead of sending the next requests: an answer, or none although the request arrives (`lost`) or never does. */
  readonly faults: (Response | 'lost' | 'unreachable')[] = [];

  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    this.sent.push(`${request.method} ${new URL(request.url).pathname}`);
    this.keys.push(request.headers.get('idempotency-key'));
    const fault = this.faults.shift();
    if (fault instanceof Response) return fault;
    if (fault === 'unreachable') throw new TypeError('fetch failed');
    const answer = await fetch(request);
    if (fault !== 'lost') return answer;
    await answer.arrayBuffer();
    throw new TypeError('fetch failed');
  };

  count(line: string): number {
    return this.sent.filter((sent) => sent === line).length;
  }
}

let service: RunningResourceSharing;
let demo: Demonstration;
beforeAll(async () => {
  service = await RunningResourceSharing.start();
  demo = await service.seedDemo([CALLBACK]);
});
afterAll(() => service[Symbol.asyncDispose]());

interface Signed {
  readonly client: SharingClient;
  readonly store: MemoryTokens;
  readonly network: Network;
  readonly tokens: Tokens;
}

/** A client of the demonstration's application whose user has signed in. */
async function signedIn(options: Partial<SharingClientOptions> = {}): Promise<Signed> {
  const network = new Network();
  const store = new MemoryTokens();
  const { id: clientId, secret } = demo.client;
  const client = new SharingClient({
    baseUrl: service.url,
    clientId,
    secret,
    tokens: store,
    fetch: network.fetch,
    retries: QUICK,
    ...options,
  });
  const { url, pending } = await client.startSignIn({ redirectUri: CALLBACK, scopes: SCOPES });
  const tokens = await client.finishSignIn(await demo.viewer.decide(url, 'allow'), pending);
  network.sent.splice(0);
  return { client, store, network, tokens };
}

const failing = async (call: Promise<unknown>): Promise<SharingError> => {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SharingError)) throw new Error(`not refused as it should be: ${String(error)}`);
  return error;
};

describe('the TypeScript client', () => {
  it('has the types of the interface description', async () => {
    await run(process.execPath, [GENERATOR, service.url, '--check']);
  });

  it('is offered by the service as a package that npm can install and Node can import', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'sharing-client-'));
    const answer = await fetch(`${service.url}/help/clients/sharing-client.tgz`);
    expect(answer.status).toBe(200);
    await writeFile(join(folder.path, 'client.tgz'), Buffer.from(await answer.arrayBuffer()));
    const modules = join(folder.path, 'node_modules');
    await mkdir(join(modules, '@gatehouse'), { recursive: true });
    await run('tar', ['-xzf', join(folder.path, 'client.tgz'), '-C', folder.path]);
    await rename(join(folder.path, 'package'), join(modules, '@gatehouse/sharing-client'));
    // What npm would bring from a registry.
    await symlink(
      fileURLToPath(new URL('../../node_modules/openapi-fetch', import.meta.url)),
      join(modules, 'openapi-fetch'),
    );
    const program = `import { SharingClient } from '@gatehouse/sharing-client';
      const client = new SharingClient({ baseUrl: '${service.url}', secret: '${demo.client.secret}' });
      console.log((await client.api.GET('/api/open/ping')).response.status);`;
    await writeFile(join(folder.path, 'main.mjs'), program);
    expect((await run(process.execPath, ['main.mjs'], { cwd: folder.path })).stdout.trim()).toBe('200');
    await run('npm', ['pack', '--dry-run', './client.tgz'], { cwd: folder.path });
  });

  it('signs a user in, and calls for this user', async () => {
    const { client, tokens } = await signedIn();
    expect(tokens.scopes.toSorted((a, b) => a.localeCompare(b))).toEqual(['meta', 'query', 'unlock', 'vip', 'write']);
    const { data } = await client.api.GET('/api/open/me');
    expect(data?.data.username).toBe('demo-viewer');
    const ping = await client.api.GET('/api/open/ping');
    expect(ping.data?.data).toMatchObject({ name: expect.any(String) as string });
  });

  it('refuses the answer to another question, one of another server, and says that the user refused', async () => {
    const { client } = await signedIn();
    const wish = { redirectUri: CALLBACK, scopes: ['meta'] };
    const { pending } = await client.startSignIn(wish);
    const other = await client.startSignIn(wish);
    const callback = await demo.viewer.decide(other.url, 'allow');
    expect((await failing(client.finishSignIn(callback, pending))).code).toBe('WRONG_STATE');
    const foreign = new URL(callback);
    foreign.searchParams.set('iss', 'https://elsewhere.example');
    expect((await failing(client.finishSignIn(foreign, other.pending))).code).toBe('WRONG_ISSUER');
    await client.finishSignIn(callback, other.pending);
    // A scope that the user has not allowed yet: otherwise there is no question.
    const refused = await client.startSignIn({ redirectUri: CALLBACK, scopes: ['meta', 'openid'] });
    const answer = await demo.viewer.decide(refused.url, 'deny');
    expect((await failing(client.finishSignIn(answer, refused.pending))).code).toBe('access_denied');
  });

  it('refreshes a token that ends once, however many calls need it', async () => {
    const { client, store, network, tokens } = await signedIn();
    await store.save({ ...tokens, expiresAt: Date.now() + 10_000 });
    await Promise.all(Array.from({ length: 10 }, () => client.api.GET('/api/open/me')));
    expect(network.count('POST /oauth2/token')).toBe(1);
    expect((await store.load())?.refreshToken).not.toBe(tokens.refreshToken);
  });

  it('refreshes a token that the service refuses, and repeats the call', async () => {
    const { client, store, network, tokens } = await signedIn();
    await store.save({ ...tokens, accessToken: 'hat_unknown' });
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.api.GET('/api/open/me')));
    expect(answers.map(({ data }) => data?.data.username)).toEqual(Array(5).fill('demo-viewer'));
    expect(network.count('POST /oauth2/token')).toBe(1);
  });

  it('keeps its user when the answer to a refresh is lost', async () => {
    const { client, store, network, tokens } = await signedIn();
    await store.save({ ...tokens, expiresAt: 0 });
    network.faults.push('lost');
    await client.api.GET('/api/open/me');
    await store.save({ ...((await store.load()) as Tokens), expiresAt: 0 });
    await client.api.GET('/api/open/me');
    expect(network.count('POST /oauth2/token')).toBe(3);
  });

  it('says that the user has to sign in again after the authorization ended', async () => {
    const { client, store, tokens } = await signedIn();
    const other = new SharingClient({
      baseUrl: service.url,
      clientId: demo.client.id,
      secret: demo.client.secret,
      tokens: new MemoryTokens(tokens),
    });
    await other.signOut();
    const error = await failing(client.api.GET('/api/open/me'));
    expect(error).toBeInstanceOf(SignInRequiredError);
    await store.save(tokens && { ...tokens, expiresAt: 0 });
    expect(await failing(client.api.GET('/api/open/me'))).toBeInstanceOf(SignInRequiredError);
    expect(await store.load()).toBeUndefined();
  });

  it('repeats calls while the service is away, and pays once', async () => {
    const { client, network } = await signedIn();
    network.faults.push(
      new Response('', { status: 503 }),
      'unreachable',
      new Response('<p>bad gateway', { status: 502 }),
    );
    expect((await client.api.GET('/api/open/me')).data?.data.username).toBe('demo-viewer');
    expect(network.count('GET /api/open/me')).toBe(4);

    const points = async (): Promise<number> => (await client.api.GET('/api/open/me')).data?.data.user_meta.points ?? 0;
    const before = await points();
    const [share] = (await service.query(
      `SELECT slug, unlock_points FROM resource_sharing.shares WHERE unlock_points > 0 AND deleted_at IS NULL AND id NOT IN
         (SELECT share_id FROM resource_sharing.unlocks) ORDER BY id LIMIT 1`,
    )) as [{ slug: string; unlock_points: number }];
    network.keys.splice(0);
    network.faults.push('lost');
    const unlocked = await client.api.POST('/api/open/resources/unlock', { body: { slug: share.slug } });
    expect(unlocked.data?.data.url).toMatch(/^http/);
    expect(unlocked.response.headers.get('idempotency-replayed')).toBe('true');
    expect(new Set(network.keys).size).toBe(1);
    expect(await points()).toBe(before - share.unlock_points);
  });

  it('waits as long as a limit says, but not longer than its user would', async () => {
    const { client, network } = await signedIn();
    const limited = (seconds: string): Response =>
      Response.json(
        { success: false, code: 'RATE_LIMIT_EXCEEDED', message: 'slow down' },
        { status: 429, headers: { 'retry-after': seconds } },
      );
    network.faults.push(limited('0'), limited('1'));
    const began = performance.now();
    await client.api.GET('/api/open/me');
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
    network.faults.push(limited('3600'));
    const error = await failing(client.api.GET('/api/open/me'));
    expect(error).toMatchObject({ status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 3_600 });
    network.faults.push('unreachable', 'unreachable', 'unreachable', 'unreachable');
    expect(await failing(client.api.GET('/api/open/me'))).toMatchObject({ status: 0, code: 'NO_ANSWER' });
  });

  it('throws what the service refuses, with its code, its fields and the id for the error log', async () => {
    const { client } = await signedIn();
    const slug = 'f'.repeat(32);
    const missing = await failing(client.api.GET('/api/open/shares/{slug}', { params: { path: { slug } } }));
    expect(missing).toMatchObject({ status: 404, requestId: expect.any(String) as string });
    const body = { url: '', tmdb_id: '550', media_type: 'movie' as const };
    const wrong = await failing(client.api.POST('/api/open/shares', { body }));
    expect(wrong.status).toBe(400);
    expect(wrong.details.map(({ field }) => field)).toContain('url');
    const nobody = new SharingClient({ baseUrl: service.url, secret: 'hk_wrong' });
    expect(await failing(nobody.api.GET('/api/open/ping'))).toMatchObject({ status: 401, code: 'INVALID_API_KEY' });
  });

  it('reads lists to their end, page by page', async () => {
    const { client, network } = await signedIn();
    for (let n = 0; n < 7; n++) {
      const url = `https://115.com/s/swpaging${n}?password=a1b2`;
      await client.api.POST('/api/open/shares', {
        body: { url, tmdb_id: '680', media_type: 'movie', title: `Part ${n}` },
      });
    }
    network.sent.splice(0);
    // oxlint-disable-next-line typescript/explicit-function-return-type -- the type of a page is what is tried here
    const page = (number: number) =>
      client.api.GET('/api/open/shares', { params: { query: { page: number, page_size: 3 } } });
    const titles: (string | null)[] = [];
    for await (const share of everyItem(page)) titles.push(share.title);
    expect(titles).toEqual([6, 5, 4, 3, 2, 1, 0].map((n) => `Part ${n}`));
    expect(network.count('GET /api/open/shares')).toBe(3);
    for await (const share of everyItem(page)) {
      expect(share.title).toBe('Part 6');
      break;
    }
    expect(network.count('GET /api/open/shares')).toBe(4);
  });

  it('serves a public application, which has no secret', async () => {
    const registered = await registerClient(demo.viewer, { kind: 'public', redirect_uris: [CALLBACK], scopes: SCOPES });
    const client = new SharingClient({ baseUrl: service.url, clientId: registered.id });
    const { url, pending } = await client.startSignIn({ redirectUri: CALLBACK, scopes: ['vip'] });
    await client.finishSignIn(await demo.viewer.decide(url, 'allow'), pending);
    expect((await client.api.GET('/api/open/me')).data?.data.username).toBe('demo-viewer');
    await client.signOut();
    expect((await failing(client.api.GET('/api/open/me'))).code).toBe('MISSING_API_KEY');
  });

  it('connects a device without a browser', async () => {
    const registered = await registerClient(demo.viewer, {
      kind: 'native',
      redirect_uris: ['com.example.tv:/callback'],
      scopes: SCOPES,
    });
    const client = new SharingClient({ baseUrl: service.url, clientId: registered.id });
    const shown: string[] = [];
    const tokens = await client.signInOnDevice({
      scopes: ['vip'],
      show: ({ userCode, address }) => {
        shown.push(userCode, address);
        void demo.viewer.decide(`${service.url}/device/confirm?user_code=${userCode}`, 'allow');
      },
    });
    expect(shown).toEqual([expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/), `${service.url}/device`]);
    expect(tokens.scopes).toEqual(['vip']);
    expect((await client.api.GET('/api/open/me')).data?.data.username).toBe('demo-viewer');
  });

  it('uses a personal key where no user has to sign in', async () => {
    const password = demo.viewerPassword;
    const { data } = await demo.viewer.call<{ data: { secret: string } }>('POST', '/api/site/keys', {
      name: 'mine',
      scopes: SCOPES,
      current_password: password,
    });
    const client = new SharingClient({ baseUrl: `${service.url}/`, secret: data.secret });
    expect((await client.api.GET('/api/open/me')).data?.data.username).toBe('demo-viewer');
    await expect(client.startSignIn({ redirectUri: CALLBACK, scopes: ['meta'] })).rejects.toThrow('clientId');
  });
});
