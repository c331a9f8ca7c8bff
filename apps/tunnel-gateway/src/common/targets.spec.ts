import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDestinations, parseFileRoot, parseHostTargets, parseTunnelTargets } from './targets.js';

const parseTargets = (text: string): unknown => parseTunnelTargets('tcp', text).targets;

describe('targets', () => {
  it('can be one or several, with weights, names and addresses', () => {
    expect(parseTargets('127.0.0.1:80, DB.internal:5432#weight=3\n[2001:db8::1]:443')).toEqual([
      { host: '127.0.0.1', port: 80, weight: 1 },
      { host: 'db.internal', port: 5432, weight: 3 },
      { host: '2001:db8::1', port: 443, weight: 1 },
    ]);
  });

  it.each([
    ['', 'name a target'],
    [' , \n', 'name a target'],
    ['localhost', 'needs a port'],
    ['localhost:0', '1 to 65535'],
    ['localhost:65536', '1 to 65535'],
    ['2001:db8::1:80', 'in brackets'],
    ['[10.0.0.1.2]:80', 'in brackets'],
    ['10.0.0.300:80', 'is not a target'],
    ['a b:80', 'is not a target'],
    ['a:80#weight=0', '#weight=1'],
    ['a:80#weight=1001', '#weight=1'],
    ['a:80#x', '#weight=1'],
    ['http://a:80', 'is not a target'],
  ])('are refused as "%s"', (text, reason) => {
    expect(() => parseTargets(text)).toThrow(reason);
  });

  it('are limited to 64', () => {
    expect(() => parseTargets(Array.from({ length: 65 }, (_, i) => `h${i}:1`).join(','))).toThrow('64');
  });

  it('of a range have a port for each of its ports, or one for all', () => {
    const parse = (text: string): unknown => parseTunnelTargets('udp', text, 3);
    expect(parse('a:80-82, [::1]:90-92#weight=2')).toEqual({
      targets: [
        { host: 'a', port: 80, weight: 1 },
        { host: '::1', port: 90, weight: 2 },
      ],
      ports: { count: 3, mapped: true },
    });
    expect(parse('a:80,b:81')).toMatchObject({ ports: { count: 3, mapped: false } });
    expect(parseTunnelTargets('tcp', 'a:80-80')).toEqual({ targets: [{ host: 'a', port: 80, weight: 1 }] });
    for (const text of [
      'a:80-83',
      'a:80-81',
      'a:82-80',
      'a:80-82,b:80',
      'a:65534-65536',
      'a:-82',
      'a-b:80-',
      'a:0-2',
    ]) {
      expect(() => parse(text), text).toThrow(RangeError);
    }
    expect(() => parseTunnelTargets('socks5', '', 2)).toThrow('tcp and udp');
    expect(() => parseTunnelTargets('secret', 'a:80-82')).toThrow('port_count');
  });

  it('of a range are accepted for its own size only, whatever it is', () => {
    const size = fc.integer({ min: 2, max: 1000 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64_000 }), size, size, (first, count, other) => {
        const text = `h:${first}-${first + count - 1}`;
        const parse = (ports: number): unknown => parseTunnelTargets('tcp', text, ports).targets;
        expect(parse(count)).toEqual([{ host: 'h', port: first, weight: 1 }]);
        if (other !== count) expect(() => parse(other)).toThrow(`${count} ports`);
      }),
    );
  });

  it('of hosts have a scheme', () => {
    expect(parseHostTargets('a:8080,https://b?insecure=1,h2c://c:50051/#weight=2')).toEqual([
      { host: 'a', port: 8080, weight: 1, scheme: 'http', insecure: false },
      { host: 'b', port: 443, weight: 1, scheme: 'https', insecure: true },
      { host: 'c', port: 50_051, weight: 2, scheme: 'h2c', insecure: false },
    ]);
    expect(parseHostTargets('tls://mail:993,TLS://b#weight=2')).toEqual([
      { host: 'mail', port: 993, weight: 1, scheme: 'tls', insecure: false },
      { host: 'b', port: 443, weight: 2, scheme: 'tls', insecure: false },
    ]);
    for (const text of [
      'tls://a:1,https://b',
      'tls://a?insecure=1',
      'ftp://a:21',
      'a:1?insecure=1',
      'https://a?x=1',
      'https://a/path',
      'https://u:p@a',
    ]) {
      expect(() => parseHostTargets(text), text).toThrow(RangeError);
    }
  });

  it('of mode file are a directory', () => {
    expect(parseFileRoot('file:///srv/w%20w/?strip=/web/')).toEqual({
      path: '/srv/w w',
      readOnly: true,
      stripPrefix: '/web',
    });
    expect(parseTunnelTargets('file', 'file:///?ro=0')).toEqual({
      targets: [],
      file: { path: '/', readOnly: false, stripPrefix: '' },
    });
    for (const text of ['/srv', 'file://host/srv', 'file:///a?x=1', 'file:///a?ro=2', 'file:///a%00', 'file:///%']) {
      expect(() => parseFileRoot(text), text).toThrow(RangeError);
    }
  });

  it('of proxy modes are destinations', () => {
    expect(parseDestinations('')).toEqual([]);
    expect(parseDestinations('10.0.0.0/8:80,443, *.corp.example\n10.1.2.3,[2001:db8::]/32:1-9')).toEqual([
      '10.0.0.0/8:80,443',
      '*.corp.example',
      '10.1.2.3',
      '[2001:db8::]/32:1-9',
    ]);
    expect(() => parseTunnelTargets('socks5', 'a:99999')).toThrow(RangeError);
  });
});
