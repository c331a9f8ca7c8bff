import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { optionalPeer } from '../support/peers.js';
import { registerClient, RunningResourceSharing, type Demonstration } from '../support/resource-sharing.js';

const GENERATOR = fileURLToPath(new URL('../../libs/sharing-client/generate-python.mjs', import.meta.url));
const SCRIPT = fileURLToPath(new URL('python_client.py', import.meta.url));
const SCOPES = ['meta', 'query', 'unlock', 'write', 'vip'];
const run = promisify(execFile);

interface Refusal {
  readonly type: string;
  readonly status: number;
  readonly code: string;
  readonly request_id: string | null;
  readonly retry_after_seconds: number | null;
  readonly details: { readonly field: string }[];
}

let service: RunningResourceSharing;
let demo: Demonstration;
/** With the package that the service offers. */
let folder: string;
beforeAll(async () => {
  service = await RunningResourceSharing.start();
  demo = await service.seedDemo(['https://client.example/callback']);
  folder = await mkdtemp(join(tmpdir(), 'sharing-client-python-'));
  const answer = await fetch(`${service.url}/help/clients/sharing-client-python.tar.gz`);
  await writeFile(join(folder, 'client.tar.gz'), Buffer.from(await answer.arrayBuffer()));
  await run('tar', ['-xzf', 'client.tar.gz', '--strip-components=1'], { cwd: folder });
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await service[Symbol.asyncDispose]();
});

const pythonOf = (context: TestContext): string => optionalPeer(context, 'python3-with-oauth-clients', '--python');

/** The client in a process of its own, for one user. */
class Program {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly lines: AsyncIterator<string>;
  private errors = '';

  constructor(context: TestContext, setup: object) {
    const env = { ...process.env, PYTHONPATH: folder };
    this.child = spawn(pythonOf(context), [SCRIPT, JSON.stringify({ url: service.url, ...setup })], { env });
    this.child.stderr.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    context.onTestFinished(() => void this.child.stdin.end());
  }

  write(name: string, ...values: unknown[]): void {
    this.child.stdin.write(`${JSON.stringify([name, ...values])}\n`);
  }

  async read<T>(): Promise<{ result: T; refused?: Refusal }> {
    const { value, done } = await this.lines.next();
    if (done === true) throw new Error(this.errors);
    return JSON.parse(value) as { result: T; refused?: Refusal };
  }

  async ask<T>(name: string, ...values: unknown[]): Promise<T> {
    this.write(name, ...values);
    const { result, refused } = await this.read<T>();
    if (refused !== undefined) throw new Error(`${name} was refused: ${JSON.stringify(refused)}`);
    return result;
  }

  async refused(name: string, ...values: unknown[]): Promise<Refusal> {
    this.write(name, ...values);
    const { refused } = await this.read();
    if (refused === undefined) throw new Error(`${name} was not refused`);
    return refused;
  }

  async sent(line: string): Promise<number> {
    const { sent } = await this.ask<{ sent: string[] }>('take_sent');
    return sent.filter((one) => one === line).length;
  }
}

async function signedIn(context: TestContext): Promise<Program> {
  const program = new Program(context, { clientId: demo.client.id, secret: demo.client.secret });
  const { url, pending } = await program.ask<{ url: string; pending: object }>('start', SCOPES);
  const callback = await demo.viewer.decide(url, 'allow');
  await program.ask('finish', callback.href, pending);
  await program.ask('take_sent');
  return program;
}

describe('the Python client', () => {
  it('has the types of the interface description', async (context) => {
    await run(process.execPath, [GENERATOR, service.url, pythonOf(context), '--check']);
  });

  it('signs a user in, and calls for this user', async (context) => {
    const program = await signedIn(context);
    expect(await program.ask('me')).toBe('demo-viewer');
    expect(await program.ask('of_title')).toBe(2);
  });

  it('refuses the answer to another question, and one of another server', async (context) => {
    const program = await signedIn(context);
    const { pending } = await program.ask<{ pending: object }>('start', ['meta']);
    const other = await program.ask<{ url: string; pending: object }>('start', ['meta']);
    const callback = await demo.viewer.decide(other.url, 'allow');
    expect(await program.refused('finish', callback.href, pending)).toMatchObject({ code: 'WRONG_STATE' });
    const foreign = new URL(callback);
    foreign.searchParams.set('iss', 'https://elsewhere.example');
    expect(await program.refused('finish', foreign.href, other.pending)).toMatchObject({ code: 'WRONG_ISSUER' });
    expect(await program.ask('finish', callback.href, other.pending)).toEqual(['meta']);
  });

  it('refreshes a token that ends or is refused once, however many threads need it', async (context) => {
    const program = await signedIn(context);
    for (const how of ['expire', 'spoil']) {
      await program.ask(how);
      expect(await program.ask('together', 8)).toEqual(Array(8).fill('demo-viewer'));
      expect(await program.sent('POST /oauth2/token'), how).toBe(1);
    }
  });

  it('keeps its user when the answer to a refresh is lost', async (context) => {
    const program = await signedIn(context);
    await program.ask('expire');
    await program.ask('fault', 'lost');
    expect(await program.ask('me')).toBe('demo-viewer');
    await program.ask('expire');
    expect(await program.ask('me')).toBe('demo-viewer');
    expect(await program.sent('POST /oauth2/token')).toBe(3);
  });

  it('says that the user has to sign in again after the authorization ended', async (context) => {
    const program = await signedIn(context);
    const grants = await demo.viewer.call<{ data: { client_id: string }[] }>('GET', '/api/site/grants');
    expect(grants.data.map(({ client_id: id }) => id)).toContain(demo.client.id);
    await demo.viewer.call('DELETE', `/api/site/grants/applications/${demo.client.id}`);
    expect(await program.refused('me')).toMatchObject({ type: 'SignInRequiredError' });
    await program.ask('expire');
    expect(await program.refused('me')).toMatchObject({ type: 'SignInRequiredError', code: 'invalid_grant' });
    expect(await program.ask('signed_in')).toBe(false);
  });

  it('repeats calls while the service is away, and pays once', async (context) => {
    const program = await signedIn(context);
    await program.ask('fault', [503, ''], 'unreachable', [502, '']);
    expect(await program.ask('me')).toBe('demo-viewer');
    expect(await program.sent('GET /api/open/me')).toBe(4);
    const points = async (): Promise<unknown> => {
      const [row] = await service.query(
        `SELECT balance FROM resource_sharing.ledger_accounts k JOIN resource_sharing.site_accounts a ON a.id = k.user_id
         WHERE a.username = 'demo-viewer'`,
      );
      return Number(row?.['balance']);
    };
    const before = await points();
    const [share] = (await service.query(
      'SELECT slug, unlock_points FROM resource_sharing.shares WHERE unlock_points > 0 ORDER BY id LIMIT 1',
    )) as [{ slug: string; unlock_points: number }];
    await program.ask('fault', 'lost');
    expect(await program.ask('unlock', share.slug)).toMatch(/^http/);
    const { keys } = await program.ask<{ keys: string[] }>('take_sent');
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    expect(await points()).toBe((before as number) - share.unlock_points);
  });

  it('waits as long as a limit says, but not longer than its user would, and says why it failed', async (context) => {
    const program = await signedIn(context);
    await program.ask('fault', [429, '0']);
    expect(await program.ask('me')).toBe('demo-viewer');
    await program.ask('fault', [429, '3600']);
    expect(await program.refused('me')).toMatchObject({ status: 429, retry_after_seconds: 3_600 });
    await program.ask('fault', 'unreachable', 'unreachable', 'unreachable', 'unreachable');
    expect(await program.refused('me')).toMatchObject({ status: 0, code: 'NO_ANSWER' });
    expect(await program.refused('missing')).toMatchObject({ status: 404, request_id: expect.any(String) as string });
    const { status, details } = await program.refused('share', '', 'x');
    expect([status, details[0]?.field]).toEqual([400, 'url']);
    const wrong = new Program(context, { secret: 'hk_wrong' });
    expect(await wrong.refused('ping')).toMatchObject({ status: 401, code: 'INVALID_API_KEY' });
  });

  it('reads lists to their end, page by page', async (context) => {
    const program = await signedIn(context);
    for (let n = 0; n < 5; n++) await program.ask('share', `https://115.com/s/swpython${n}?password=a1b2`, `Part ${n}`);
    await program.ask('take_sent');
    expect(await program.ask('titles', 2)).toEqual([4, 3, 2, 1, 0].map((n) => `Part ${n}`));
    expect(await program.sent('GET /api/open/shares')).toBe(3);
  });

  it('connects a device without a browser, and signs out', async (context) => {
    const registration = { kind: 'native', redirect_uris: ['com.example.tv:/callback'], scopes: SCOPES };
    const registered = await registerClient(demo.viewer, registration);
    const program = new Program(context, { clientId: registered.id });
    program.write('device', ['vip']);
    const { result: shown } = await program.read<string[]>();
    expect(shown).toEqual([expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/), `${service.url}/device`]);
    await demo.viewer.decide(`${service.url}/device/confirm?user_code=${shown[0]}`, 'allow');
    expect((await program.read()).result).toEqual(['vip']);
    expect(await program.ask('me')).toBe('demo-viewer');
    await program.ask('sign_out');
    expect(await program.refused('me')).toMatchObject({ code: 'MISSING_API_KEY' });
  });
});
