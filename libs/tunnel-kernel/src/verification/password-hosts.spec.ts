import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textOf } from '../../test/host-rig.js';
import { formOf, GuardedHost, policy } from '../../test/verification-rig.js';

let host: GuardedHost;

beforeEach(async () => {
  host = await GuardedHost.start();
});
afterEach(() => host.close());

const HTTPS = { 'x-forwarded-proto': 'https' };

describe('a host with a password', () => {
  it('shows a page to browsers and a status to programs, and nothing reaches the target', async () => {
    await host.guard(policy());
    const page = await host.rig.ask({ path: '/a?b=1', headers: { accept: 'text/html' } });
    expect(page.status).toBe(401);
    expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' });
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(page.body).not.toMatch(/<script|javascript:|\son\w+=/i);
    expect(page.body).toContain('<html lang="en">');
    expect(page.body).toContain('<label for="password">');
    expect(page.body).toContain('prefers-color-scheme:dark');
    expect(formOf(page).fields.get('next')).toBe('/a?b=1');
    for (const asked of [
      {},
      { method: 'POST', headers: { accept: 'text/html' } },
      { headers: { upgrade: 'websocket', connection: 'upgrade' } },
    ]) {
      const answer = await host.rig.ask(asked);
      expect(answer).toMatchObject({ status: 401, headers: { 'content-type': 'application/json' } });
      expect(JSON.parse(answer.body)).toMatchObject({ error: 'visitor_auth' });
    }
    expect(host.seen).toEqual([]);
  });

  it('uses the language of the browser, or English', async () => {
    await host.guard(policy());
    const browser = host.browser({ 'accept-language': 'zh-CN,zh;q=0.9' });
    const page = await browser.ask({ headers: { accept: 'text/html' } });
    expect(page.headers).toMatchObject({ 'content-language': 'zh-CN' });
    expect(page.body).toContain('<html lang="zh-CN">');
    expect(textOf(page)).toContain('<label for="password">密码</label>');
    expect(textOf(await browser.logIn('wrong'))).toContain('密码错误。');
    expect((await host.browser().logIn('wrong')).body).toContain('Wrong password.');
    const program = await host.rig.ask({ headers: { 'accept-language': 'zh' } });
    expect(JSON.parse(textOf(program))).toEqual({ error: 'visitor_auth', message: '请在浏览器中打开此地址并登录。' });
    const refused = await browser.ask({ path: '/__gw/auth/99', headers: { accept: 'text/html' } });
    expect(refused).toMatchObject({ status: 404, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(textOf(refused)).toContain('此表单不存在。');
  });

  it('admits visitors with the password, returns them to their page, and hides the proof from the target', async () => {
    await host.guard(policy());
    const browser = host.browser({ cookie: 'theme=dark; gwv_1=x.y; session=1' });
    const answer = await host.browser().logIn('open sesame', '/a?b=1');
    expect(answer).toMatchObject({ status: 303, headers: { location: '/a?b=1' } });
    const [proof = ''] = answer.headers['set-cookie'] ?? [];
    expect(proof).toMatch(/^gwv_1=[\w-]{46}\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=7200$/);
    const [value = ''] = proof.split(';');
    const cookie = `theme=dark; ${value}; gwc=abc; session=1`;
    expect(await browser.ask({ path: '/a?b=1', headers: { cookie } })).toMatchObject({ status: 200, body: 'the site' });
    expect(host.seen.map(({ url, headers }) => [url, headers.cookie])).toEqual([['/a?b=1', 'theme=dark; session=1']]);
  });

  it('accepts cookies over https only if no other host can set them', async () => {
    await host.guard(policy({ ttlSeconds: 0 }));
    const browser = host.browser(HTTPS);
    await browser.logIn('open sesame');
    expect(browser.received.map((text) => text.replace(/=[^;]+/, '='))).toEqual([
      '__Host-gwc=; Path=/; HttpOnly; SameSite=Lax; Secure',
      '__Host-gwv_1=; Path=/; HttpOnly; SameSite=Lax; Secure',
    ]);
    expect((await browser.ask()).status).toBe(200);
    const plain = `gwv_1=${browser.jar.get('__Host-gwv_1')}`;
    expect((await host.rig.ask({ headers: { ...HTTPS, cookie: plain } })).status).toBe(401);
    expect((await host.rig.ask({ headers: { cookie: plain } })).status).toBe(401);
    // With the browser's session, but not for ever.
    host.gate.clock.now += 2_592_000_000;
    expect((await browser.ask()).status).toBe(401);
  });

  it('redirects to no other site', async () => {
    await host.guard(policy());
    const browser = host.browser();
    const paths = [
      'https://evil.test/',
      '//evil.test',
      '/\\evil.test',
      '\\/evil.test',
      '/\t/evil.test',
      '/.//evil.test',
      '/..//evil.test',
    ];
    paths.push('javascript:alert(1)', '/__gw/auth/1', '/a\r\nset-cookie: x=1', `/${'a'.repeat(5000)}`, '');
    for (const next of paths) {
      const answer = await browser.logIn('open sesame', '/', (fields) => fields.set('next', next));
      expect([next, answer.status, answer.headers.location]).toEqual([next, 303, '/']);
      browser.jar.clear();
    }
    const page = await browser.ask({ path: '//evil.test/x' });
    expect(page.status).toBe(401);
    expect(formOf(page).fields.get('next')).toBe('/');
  });

  it('accepts only forms of its own pages', async () => {
    await host.guard(policy(), policy({ id: 2 }));
    const browser = host.browser();
    const { action, fields } = formOf(await browser.ask());
    fields.set('password', 'open sesame');
    const page = browser.jar.get('gwc') ?? '';
    const tried = async (
      headers: Record<string, string> = {},
      change: (own: URLSearchParams) => void = () => undefined,
    ) => {
      const own = new URLSearchParams(fields);
      browser.jar.set('gwc', page);
      change(own);
      return (await browser.submit(action, own, headers)).status;
    };
    expect(await tried({ cookie: '' })).toBe(403);
    expect(await tried({ cookie: `gwc=${'A'.repeat(24)}` })).toBe(403);
    expect(await tried({}, (own) => own.delete('csrf'))).toBe(403);
    expect(await tried({}, (own) => own.set('csrf', `${own.get('csrf')}A`))).toBe(403);
    expect(await tried({ origin: 'https://evil.test' })).toBe(403);
    expect(await tried({ origin: 'null' })).toBe(403);
    expect(await tried({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await tried({ 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await tried({ 'content-type': 'text/plain' })).toBe(415);
    expect(host.gate.looked).toEqual([]);
    const other = host.browser();
    await other.ask();
    expect((await other.submit(action, fields)).status).toBe(403);
    expect(await tried({ origin: 'http://a.test', 'sec-fetch-site': 'same-origin' })).toBe(303);
    host.gate.clock.now += 3_600_000;
    expect(await tried()).toBe(403);
  });

  it('answers requests that are not a form, too long or for no policy', async () => {
    await host.guard(policy());
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await host.rig.ask({ path: '/__gw/auth/1' })).status).toBe(405);
    expect((await host.rig.ask({ method: 'POST', path: '/__gw/auth/2', headers })).status).toBe(404);
    expect((await host.rig.ask({ method: 'POST', path: '/__gw/auth/1', headers, body: 'x'.repeat(9000) })).status).toBe(
      413,
    );
    expect((await host.rig.ask({ method: 'POST', path: '/__gw/auth/1x', headers })).status).toBe(401);
    const browser = host.browser();
    await browser.logIn('open sesame');
    for (const path of ['/__gw/auth/1x', '/__gw/', '/__gw/oauth/callback']) {
      expect((await browser.ask({ path })).status).toBe(404);
    }
    expect(host.seen).toEqual([]);
  });

  it('refuses proofs that were changed, forged, made for another policy, or are too old', async () => {
    await host.guard(policy(), policy({ id: 2, password: 'is:other' }));
    const browser = host.browser();
    await browser.logIn('open sesame');
    const proof = browser.jar.get('gwv_1') ?? '';
    const status = async (cookie: string): Promise<number> => (await host.rig.ask({ headers: { cookie } })).status;
    expect(await status(`gwv_1=${proof}`)).toBe(200);
    expect(await status(`gwv_1=planted; gwv_1=${proof}`)).toBe(200);
    expect(await status(`gwv_2=${proof}`)).toBe(401);
    expect(await status(`gwv_01=${proof}`)).toBe(401);
    const [payload = '', mac = ''] = proof.split('.');
    for (let at = 0; at < proof.length; at += 7) {
      const other = proof[at] === 'A' ? 'B' : 'A';
      expect(await status(`gwv_1=${proof.slice(0, at)}${other}${proof.slice(at + 1)}`)).toBe(401);
    }
    for (const made of [
      '',
      '.',
      payload,
      `${payload}.`,
      `${payload}.${mac}=`,
      `${payload}.${mac}.`,
      `${mac}.${payload}`,
      `.${mac}`,
    ]) {
      expect(await status(`gwv_1=${made}`)).toBe(401);
    }
    host.gate.clock.now += 7_200_000;
    expect(await status(`gwv_1=${proof}`)).toBe(401);
  });

  it('refuses proofs of another host and of a gateway with another secret', async () => {
    const { rig } = host;
    const target = await rig.origin((_, response) => response.end('the site'));
    const hosts = [rig.hostConfig([target]), rig.hostConfig([target], { id: 13, host: 'b.test' })];
    const policies = [policy({ resource: { kind: 'client', id: rig.owner.record.id } })];
    await rig.server.apply(rig.config({ hosts, policies }));
    const browser = host.browser();
    await browser.logIn('open sesame');
    expect((await browser.ask()).status).toBe(200);
    expect((await browser.ask({ host: 'b.test' })).status).toBe(401);
    const other = await GuardedHost.start({ secret: Buffer.alloc(32, 8) });
    try {
      await other.guard(policy());
      const cookie = `gwv_1=${browser.jar.get('gwv_1')}`;
      expect((await other.rig.ask({ headers: { cookie } })).status).toBe(401);
    } finally {
      await other.close();
    }
  });

  it('ends its grants and their open requests when the policy changes or is deleted', async () => {
    await host.guard(policy());
    const browser = host.browser();
    await browser.logIn('open sesame');
    await host.guard(policy());
    expect((await browser.ask()).status).toBe(200);
    await host.guard(policy({ version: 2 }));
    expect((await browser.ask()).status).toBe(401);
    await host.guard(policy());
    expect((await browser.ask()).status).toBe(200);
    await host.guard(policy({ id: 9, type: 'basic', password: '' }));
    expect((await browser.ask()).status).toBe(401);
    await host.guard();
    expect((await host.rig.ask()).status).toBe(200);
  });

  it('cuts requests that run under a changed policy', async () => {
    const { rig } = host;
    const waiting = Promise.withResolvers<void>();
    const target = await rig.origin((_, response) => {
      response.write('begun');
      waiting.resolve();
    });
    const apply = (version: number) =>
      rig.server.apply(rig.config({ hosts: [rig.hostConfig([target])], policies: [policy({ version })] }));
    await apply(1);
    const browser = host.browser();
    await browser.logIn('open sesame');
    const running = browser.ask().then(
      () => 'answered',
      () => 'cut',
    );
    await waiting.promise;
    await apply(1);
    expect(rig.server.flows).toBe(1);
    await apply(2);
    expect(await running).toBe('cut');
  });

  it('checks five passwords a minute from one address and no more', async () => {
    await host.guard(policy());
    const browser = host.browser({ 'x-forwarded-for': '2001:db8::1' });
    for (let tries = 0; tries < 5; tries += 1) expect((await browser.logIn('wrong')).status).toBe(401);
    const limited = await browser.logIn('open sesame');
    expect(limited.status).toBe(429);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    expect(limited.body).toContain('role="alert"');
    expect(host.gate.looked).toHaveLength(5);
    // An IPv6 network is one visitor; another address is another.
    expect((await host.browser({ 'x-forwarded-for': '2001:db8::2' }).logIn('open sesame')).status).toBe(429);
    expect((await host.browser({ 'x-forwarded-for': '192.0.2.1' }).logIn('open sesame')).status).toBe(303);
    expect(host.gate.failures).toMatchObject([
      { resource: { kind: 'host', id: 12 }, policyId: 1, address: '2001:db8::1', count: 1 },
    ]);
    host.gate.clock.now += 60_000;
    expect((await browser.logIn('open sesame')).status).toBe(303);
  });

  it('counts concurrent guesses', async () => {
    await host.guard(policy());
    const browser = host.browser();
    const { action, fields } = formOf(await browser.ask());
    fields.set('password', 'wrong');
    const answers = await Promise.all(Array.from({ length: 12 }, () => browser.submit(action, fields)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(7);
    expect(host.gate.looked).toHaveLength(5);
  });

  it('admits nobody while it has no password', async () => {
    await host.guard(policy({ password: null }), policy({ id: 2, password: '' }));
    const browser = host.browser();
    for (const password of ['', 'null', 'undefined']) expect((await browser.logIn(password)).status).toBe(401);
    expect(host.gate.looked).toEqual([]);
  });

  it('accepts any one of several policies', async () => {
    await host.guard(policy(), policy({ id: 2, password: 'is:other' }));
    const browser = host.browser();
    expect((await browser.logIn('other')).status).toBe(303);
    expect([...browser.jar.keys()].sort()).toEqual(['gwc', 'gwv_2']);
    expect((await browser.ask()).status).toBe(200);
  });

  it('has its form outside of locations', async () => {
    await host.guardLocations({ 12: '/', 13: '/inner' }, policy({ resource: { kind: 'host', id: 13 } }));
    const browser = host.browser();
    expect((await browser.ask({ path: '/' })).status).toBe(200);
    expect((await browser.ask({ path: '/inner/x' })).status).toBe(401);
    expect(await browser.logIn('open sesame', '/inner/x')).toMatchObject({
      status: 303,
      headers: { location: '/inner/x' },
    });
    expect((await browser.ask({ path: '/inner/x' })).status).toBe(200);
    // Only those of the same name can be meant.
    expect((await host.rig.ask({ method: 'POST', path: '/__gw/auth/1?r=13', host: 'b.test' })).status).toBe(404);
  });

  it('does not start with an invalid secret', async () => {
    await expect(GuardedHost.start({ secret: Buffer.alloc(0) })).rejects.toThrow(RangeError);
    await expect(GuardedHost.start({ secret: Buffer.alloc(31) })).rejects.toThrow(RangeError);
  });
});

describe('the policies of a client', () => {
  it('apply to resources without policies of their own', async () => {
    const { rig } = host;
    const client = policy({ id: 5, resource: { kind: 'client', id: rig.owner.record.id }, password: 'is:everywhere' });
    await host.guard(client);
    expect((await host.browser().logIn('everywhere')).status).toBe(303);
    await host.guard(client, policy());
    expect((await host.browser().logIn('everywhere')).status).toBe(401);
    expect((await host.browser().logIn('open sesame')).status).toBe(303);
    await host.guard(
      policy({ resource: { kind: 'client', id: 99 } }),
      policy({ id: 3, resource: { kind: 'tunnel', id: 12 } }),
    );
    expect((await rig.ask()).status).toBe(200);
  });
});
