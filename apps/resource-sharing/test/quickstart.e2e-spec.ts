import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPeer } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSite, type SiteApp } from './site-app.js';
import { PageReader } from './support/page-reader.js';
import { CALLBACK, PASSWORD, ThirdParty, type RegisteredApp } from './support/third-party.js';

const run = promisify(execFile);

let site: SiteApp;
let folder: string;
let reader: PageReader;
let apps: Record<'a server' | 'a public application', RegisteredApp>;

beforeAll(async () => {
  site = await startSite();
  folder = mkdtempSync(join(tmpdir(), 'quickstart-'));
  const third = new ThirdParty(site);
  const { id, name } = await third.user();
  apps = {
    'a server': await third.register(id, { scopes: ['meta', 'query'] }),
    'a public application': await third.register(id, { scopes: ['meta', 'query'], kind: 'public' }),
  };
  reader = new PageReader(site.url);
  await reader.logIn(name, PASSWORD);
});
afterAll(async () => {
  await site.close();
  rmSync(folder, { recursive: true });
});

const PROGRAMS = [
  { language: 'curl', file: 'quickstart.sh', command: 'bash', args: [], version: ['--version'] },
  { language: 'TypeScript', file: 'quickstart.mts', command: process.execPath, args: [], version: ['--version'] },
  { language: 'Python', file: 'quickstart.py', command: 'python3', args: [], version: ['--version'] },
  // Compiling Go's HTTP client for the first time takes a minute, so it is for machines that have the peers written in Go.
  { language: 'Go', file: 'quickstart.go', command: 'go', args: ['run'], version: ['version'], peer: 'mihomo' },
] as const;

const decode = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    // The page names the public address; this service listens on a port of its own.
    .replaceAll('http://127.0.0.1:8081', site.url);

/** Opens the application's page, allows it as its address says, and returns the code and the sample. */
async function followQuickstart(app: RegisteredApp, language: string): Promise<{ code: string; source: string }> {
  await reader.get(`/developer/${app.clientId}`);
  const [, address = ''] = /<a href="([^"]*oauth2\/authorize[^"]*)">/.exec(reader.page) ?? [];
  const [, source = ''] =
    new RegExp(`<summary>${language}</summary>\\s*<pre[^>]*><code>([\\s\\S]*?)</code></pre>`).exec(reader.page) ?? [];
  const { pathname, search } = new URL(decode(address));
  await reader.get(`${pathname}${search}`);
  // Allowed once, it is not asked for again.
  if (!reader.location.startsWith(CALLBACK)) {
    await reader.submit(`${pathname}${search}`, { decision: 'allow', scope: ['meta', 'query'] });
  }
  expect(reader.location.startsWith(`${CALLBACK}?`), reader.text.slice(0, 300)).toBe(true);
  return { code: new URL(reader.location).searchParams.get('code') ?? '', source: decode(source) };
}

const KINDS = ['a server', 'a public application'] as const;
const RUNS = KINDS.flatMap((kind) => PROGRAMS.map((program) => ({ ...program, kind })));

describe('the quickstart of an application', () => {
  it.for(RUNS)('leads $kind to the first call in $language', { timeout: 90_000 }, async (program, { skip }) => {
    const { kind, language, file, command, args, version } = program;
    const app = apps[kind];
    if ('peer' in program && findPeer(program.peer) === undefined) {
      skip(`${program.peer} is not installed: npm run peers -- --go`);
    }
    const isThere = await run(command, [...version]).then(
      () => true,
      () => false,
    );
    if (!isThere) skip(`${command} is not installed`);
    const { code, source } = await followQuickstart(app, language);
    writeFileSync(join(folder, file), source);
    const isPublic = kind === 'a public application';
    // What everybody has proves nothing: a public application needs neither its secret nor a key.
    expect(/secret|X-API-Key/i.test(source)).toBe(!isPublic);
    expect(source).not.toMatch(/^(?:secret|public)\|/m);
    const { stdout } = await run(command, [...args, join(folder, file)], {
      cwd: folder,
      env: { ...process.env, CODE: code, ...(isPublic ? {} : { CLIENT_SECRET: app.secret }) },
    });
    expect(stdout).toContain('pong');
  });

  it('stands beside what the secret of a public application is worth', async () => {
    const opensNothing = 'Everybody who has this application has its secret, so it opens nothing';
    await reader.get(`/developer/${apps['a public application'].clientId}`);
    expect(reader.text).toContain(opensNothing);
    await reader.get(`/developer/${apps['a server'].clientId}`);
    expect(reader.text).not.toContain(opensNothing);
  });

  it('is new each time: neither state nor verifier is reused', async () => {
    const verifiers = new Set<string>();
    for (let time = 0; time < 2; time++) {
      await reader.get(`/developer/${apps['a server'].clientId}`);
      verifiers.add(/code_verifier=([\w-]+)/.exec(reader.page)?.[1] ?? '');
    }
    expect(verifiers.size).toBe(2);
  });
});
