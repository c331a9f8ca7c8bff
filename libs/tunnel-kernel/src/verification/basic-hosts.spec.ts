import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TunnelError } from '../index.js';
import { GuardedHost, policy } from '../../test/verification-rig.js';

let host: GuardedHost;

beforeEach(async () => {
  host = await GuardedHost.start();
});
afterEach(() => host.close());

const users = policy({ id: 3, type: 'basic', password: 'ann:is:a:b\nbob:is:\u00fc\nann:is:second\nnobody\n:is:empty' });

function basic(user: string, password: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

describe('a host with user names', () => {
  it('asks for a user and admits it, and hides the credentials from the target', async () => {
    await host.guard(users);
    const asked = await host.rig.ask();
    expect(asked.status).toBe(401);
    expect(asked.headers['www-authenticate']).toBe('Basic realm="a.test", charset="UTF-8"');
    expect((await host.rig.ask({ headers: basic('ann', 'a:b') })).status).toBe(200);
    expect((await host.rig.ask({ headers: basic('bob', '\u00fc') })).status).toBe(200);
    expect(host.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });

  it('refuses others at the cost of one password hash each', async () => {
    await host.guard(users);
    for (const [user, password] of [
      ['ann', 'a'],
      ['ann', 'second'],
      ['carl', 'a:b'],
      ['', 'empty'],
      ['nobody', ''],
    ] as const) {
      host.gate.clock.now += 60_000;
      host.gate.looked.length = 0;
      expect((await host.rig.ask({ headers: basic(user, password) })).status).toBe(401);
      // The hash of some user for an unknown name; no hash for no password.
      expect(host.gate.looked).toHaveLength(password === '' ? 0 : 1);
    }
    for (const authorization of [
      'Basic',
      'Basic !',
      'Basic YW5u',
      'Bearer YW5uOmE6Yg==',
      'basic YW5uOmE6Yg==, Basic YW5uOmE6Yg==',
    ]) {
      expect((await host.rig.ask({ headers: { authorization } })).status).toBe(401);
    }
    expect(host.seen).toEqual([]);
  });

  it('accepts credentials only from `Authorization`', async () => {
    await host.guard(users);
    const right = basic('ann', 'a:b').authorization;
    expect((await host.rig.ask({ headers: { 'proxy-authorization': right } })).status).toBe(401);
    expect(
      (await host.rig.ask({ headers: { 'x-authorization': right, authorization: basic('ann', 'x').authorization } }))
        .status,
    ).toBe(401);
    const wrong = basic('root', 'x').authorization;
    const twice = `GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nAuthorization: ${right}\r\nAuthorization: ${wrong}\r\n\r\n`;
    expect(await host.rig.raw(twice)).toMatch(/^HTTP\/1.1 200/);
    // The target does not receive the second one, either.
    expect(host.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it('remembers right and wrong pairs for a minute, while the policy is unchanged', async () => {
    await host.guard(users);
    const ask = async (password: string): Promise<number> =>
      (await host.rig.ask({ headers: basic('ann', password) })).status;
    for (let times = 0; times < 9; times += 1) expect([await ask('a:b'), await ask('x')]).toEqual([200, 401]);
    expect(host.gate.looked).toHaveLength(2);
    await host.guard({ ...users, version: 2, password: 'ann:is:new' });
    expect([await ask('a:b'), await ask('new')]).toEqual([401, 200]);
    host.gate.clock.now += 60_000;
    host.gate.looked.length = 0;
    expect([await ask('new'), await ask('new')]).toEqual([200, 200]);
    expect(host.gate.looked).toHaveLength(1);
  });

  it('checks concurrent equal credentials once', async () => {
    await host.guard(users);
    const answers = await Promise.all(Array.from({ length: 20 }, () => host.rig.ask({ headers: basic('ann', 'a:b') })));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(host.gate.looked).toHaveLength(1);
  });

  it('accepts five guesses a minute for one user from one address', async () => {
    await host.guard(users);
    for (let tries = 0; tries < 5; tries += 1) {
      expect((await host.rig.ask({ headers: basic('ann', `guess ${tries}`) })).status).toBe(401);
    }
    const limited = await host.rig.ask({ headers: basic('ann', 'a:b') });
    expect(limited.status).toBe(429);
    expect(limited.headers['retry-after']).toBe('60');
    expect(host.gate.looked).toHaveLength(5);
    const elsewhere = { ...basic('ann', 'a:b'), 'x-forwarded-for': '192.0.2.1' };
    expect((await host.rig.ask({ headers: elsewhere })).status).toBe(200);
    expect((await host.rig.ask({ headers: basic('bob', '\u00fc') })).status).toBe(200);
    expect(host.gate.failures[0]).toMatchObject({ policyId: 3, resource: { kind: 'host', id: 12 } });
  });

  it('reveals nothing to a guesser while the right pair is remembered', async () => {
    await host.guard(users);
    const ask = async (user: string, password: string): Promise<number> =>
      (await host.rig.ask({ headers: basic(user, password) })).status;
    expect(await ask('ann', 'a:b')).toBe(200);
    const statuses: number[] = [];
    for (let tries = 0; tries < 50; tries += 1) statuses.push(await ask('ann', `guess ${tries}`));
    expect(statuses).toEqual([...Array<number>(5).fill(401), ...Array<number>(45).fill(429)]);
    // The right one gets the answer of the wrong ones.
    expect(await ask('ann', 'a:b')).toBe(429);
    host.gate.clock.now += 60_000;
    expect(await ask('ann', 'a:b')).toBe(200);
  });

  it('still admits its users while another visitor at their address tries many names', async () => {
    await host.guard(users);
    const ask = async (user: string, password: string): Promise<number> =>
      (await host.rig.ask({ headers: basic(user, password) })).status;
    expect(await ask('ann', 'a:b')).toBe(200);
    const statuses: number[] = [];
    for (let tries = 0; tries < 50; tries += 1) statuses.push(await ask(`user ${tries}`, 'guess'));
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30);
    expect(await ask('ann', 'a:b')).toBe(200);
    expect(await ask('bob', '\u00fc')).toBe(429);
  });

  it('does not count a guess that it could not check', async () => {
    let broken = true;
    const busy = await GuardedHost.start({
      verifyPassword: async (encoded, password) => {
        if (broken) throw new TunnelError('overloaded', 'too many passwords to check');
        return encoded === `is:${password}`;
      },
    });
    try {
      await busy.guard(users);
      const ask = async (password: string): Promise<number> =>
        (await busy.rig.ask({ headers: basic('ann', password) })).status;
      for (let tries = 0; tries < 9; tries += 1) expect(await ask('a:b')).toBe(503);
      broken = false;
      expect(await ask('a:b')).toBe(200);
    } finally {
      await busy.close();
    }
  });

  it('shows a page to people if there is one, and accepts either way', async () => {
    await host.guard(users, policy());
    const page = await host.rig.ask({ headers: { accept: 'text/html' } });
    expect(page.headers).not.toHaveProperty('www-authenticate');
    expect(page.body).toContain('<form');
    expect((await host.rig.ask()).headers).toHaveProperty('www-authenticate');
    const browser = host.browser();
    await browser.logIn('open sesame');
    // Said to the gateway, not to the target; what is the target's own goes on.
    expect((await browser.ask({ headers: basic('ann', 'whatever') })).status).toBe(200);
    expect((await browser.ask({ headers: { authorization: 'Bearer own' } })).status).toBe(200);
    expect(host.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer own']);
  });

  it('reports that too many passwords are being checked', async () => {
    const hold = Promise.withResolvers<boolean>();
    let running = 0;
    const busy = await GuardedHost.start({
      verifyPassword: () => {
        running += 1;
        return hold.promise;
      },
    });
    try {
      await busy.guard(users);
      const asks = Array.from({ length: 80 }, (_, at) =>
        busy.rig.ask({ headers: { 'x-forwarded-for': `192.0.2.${at}`, ...basic('ann', `p${at}`) } }),
      );
      let answered = 0;
      for (const ask of asks) void ask.then(() => (answered += 1));
      await waitFor(() => answered === 12);
      const first = await Promise.race(asks);
      expect(first).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
      expect(running).toBe(4);
      hold.resolve(false);
      const statuses = (await Promise.all(asks)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 503)).toHaveLength(12);
      expect(statuses.filter((status) => status === 401)).toHaveLength(68);
    } finally {
      hold.resolve(false);
      await busy.close();
    }
  });
});
