import { describe, expect, it } from 'vitest';
import { Problems, UsageError } from './command-line.js';
import { nameOfProxy, parseProxy } from '../proxy/proxy-address.js';
import { readProxy, type ProxiedScheme } from './proxy-settings.js';

function chosen(
  environment: Record<string, string>,
  {
    setting,
    scheme = 'https',
    at = 'gw.example.org:8024',
  }: { setting?: string; scheme?: ProxiedScheme; at?: string } = {},
): string | null {
  const problems = new Problems();
  const choose = readProxy({ setting, environment }, scheme, problems);
  problems.throwIfAny();
  const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(at) ?? [];
  const proxy = choose({ host, port: Number(port) });
  return proxy && nameOfProxy(proxy);
}

describe('a proxy', () => {
  it('is an HTTP proxy without a scheme, and has the usual ports', () => {
    expect(parseProxy('proxy.corp:3128')).toEqual({ kind: 'http', host: 'proxy.corp', port: 3128, login: null });
    expect(parseProxy('http://proxy.corp/')).toMatchObject({ kind: 'http', port: 80 });
    expect(parseProxy('https://proxy.corp')).toMatchObject({ kind: 'https', port: 443 });
    for (const scheme of ['socks', 'socks5', 'socks5h']) {
      expect(parseProxy(`${scheme}://[2001:db8::1]`)).toMatchObject({
        kind: 'socks5',
        host: '2001:db8::1',
        port: 1080,
      });
    }
  });

  it('may have a user and a password, percent-encoded, which its name does not have', () => {
    const proxy = parseProxy('socks5://an%40n:p%3Aw%2F@proxy.corp:1');
    expect(proxy?.login).toEqual({ username: 'an@n', password: 'p:w/' });
    expect(proxy && nameOfProxy(proxy)).toBe('socks5://proxy.corp:1');
    expect(parseProxy('ann@proxy.corp')?.login).toEqual({ username: 'ann', password: '' });
  });

  it.each([
    'socks4://proxy.corp:1',
    'ftp://proxy.corp',
    'http://proxy.corp/path',
    'http://proxy.corp?x',
    'http://',
    'http://proxy.corp:0',
    'http://proxy.corp:99999',
    'http://a%3Ab:c@proxy.corp',
    'http://:secret@proxy.corp',
    'http://a:%ff@proxy.corp',
    `http://${'a'.repeat(256)}:b@proxy.corp`,
    'socks5://pro xy:1',
  ])('is not %s', (text) => expect(parseProxy(text)).toBeNull());
});

describe('the environment', () => {
  it('names the proxy by the scheme of the gateway, or ALL_PROXY, in lower or upper case', () => {
    const all = { HTTPS_PROXY: 'http://s:1', HTTP_PROXY: 'http://h:2', ALL_PROXY: 'socks5://a:3' };
    expect(chosen(all)).toBe('http://s:1');
    expect(chosen(all, { scheme: 'http' })).toBe('http://h:2');
    expect(chosen({ ALL_PROXY: 'socks5://a:3', HTTP_PROXY: 'http://h:2' })).toBe('socks5://a:3');
    expect(chosen({ HTTPS_PROXY: 'http://upper:1', https_proxy: 'http://lower:1' })).toBe('http://lower:1');
    expect(chosen({ HTTPS_PROXY: 'http://upper:1', https_proxy: '' })).toBe('http://upper:1');
    expect(chosen({ all_proxy: 'socks5://a:3' }, { scheme: 'http' })).toBe('socks5://a:3');
    expect(chosen({})).toBeNull();
  });

  it('loses to the setting, which none turns off', () => {
    const environment = { HTTPS_PROXY: 'http://s:1', NO_PROXY: '*' };
    expect(chosen(environment, { setting: 'socks5://own:9' })).toBe('socks5://own:9');
    expect(chosen({ HTTPS_PROXY: 'http://s:1' }, { setting: 'none' })).toBeNull();
    // It is not used, so it may be anything.
    expect(chosen({ HTTPS_PROXY: 'socks4://s' }, { setting: 'None' })).toBeNull();
  });

  it.each([
    ['*', 'gw.example.org:8024'],
    ['localhost, example.org', 'gw.example.org:8024'],
    ['a.test .example.org', 'GW.example.org.:8024'],
    ['*.example.org', 'gw.example.org:8024'],
    ['gw.example.org:8024', 'gw.example.org:8024'],
    ['EXAMPLE.org', 'example.org:443'],
    ['10.0.0.0/8', '10.1.2.3:8024'],
    ['10.1.2.3', '10.1.2.3:8024'],
    ['10.1.2.3:8024', '10.1.2.3:8024'],
    ['2001:db8::/32', '[2001:db8::1]:8024'],
    ['[2001:db8::1]:8024', '[2001:db8:0::1]:8024'],
    ['[2001:db8::1]', '[2001:db8::1]:8024'],
  ])('excepts with NO_PROXY=%s the address %s', (direct, at) => {
    expect(chosen({ HTTPS_PROXY: 'http://s:1', NO_PROXY: direct }, { at })).toBeNull();
    expect(chosen({ https_proxy: 'http://s:1', no_proxy: direct }, { at })).toBeNull();
  });

  it.each([
    ['xample.org', 'gw.example.org:8024'],
    ['gw.example.org:443', 'gw.example.org:8024'],
    ['sub.gw.example.org', 'gw.example.org:8024'],
    ['10.0.0.0/8', '11.1.2.3:8024'],
    ['10.1.2', '10.1.2.3:8024'],
    ['2.3', '10.1.2.3:8024'],
    ['.', 'gw.example.org:8024'],
  ])('does not except with NO_PROXY=%s the address %s', (direct, at) => {
    expect(chosen({ HTTPS_PROXY: 'http://s:1', NO_PROXY: direct }, { at })).toBe('http://s:1');
  });

  it('is named where it cannot be read, and its password is not', () => {
    for (const [places, name] of [
      [{ environment: { all_proxy: 'socks4://ann:secret@s' }, setting: undefined }, 'all_proxy'],
      [{ environment: {}, setting: 'ann:secret@' }, 'proxy'],
    ] as const) {
      const problems = new Problems();
      readProxy(places, 'https', problems);
      const error = (() => {
        try {
          problems.throwIfAny();
        } catch (thrown) {
          return thrown as UsageError;
        }
        throw new Error('nothing is wrong');
      })();
      expect(error.message).toContain(`${name} is not a proxy`);
      expect(error.message).not.toContain('secret');
    }
  });
});
