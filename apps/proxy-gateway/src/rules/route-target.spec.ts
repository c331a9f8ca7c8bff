import { isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parseRouteTarget } from './route-target.js';

describe('parseRouteTarget', () => {
  it.each([
    ['https://Example.COM/a?b#c', 'https', 'example.com', 443],
    ['http://example.com', 'http', 'example.com', 80],
    ['https://user:pa@ss@example.com:8443/', 'https', 'example.com', 8443],
    ['example.com', 'https', 'example.com', 443],
    ['example.com.', 'https', 'example.com', 443],
    ['example.com:22', 'tcp', 'example.com', 22],
    ['example.com:80', 'http', 'example.com', 80],
    ['example.com/path', 'https', 'example.com', 443],
    ['localhost', 'https', 'localhost', 443],
    ['wss://bücher.example/x', 'wss', 'xn--bcher-kva.example', 443],
    ['1.2.3.4', 'https', '1.2.3.4', 443],
    ['1.2.3.4:53', 'tcp', '1.2.3.4', 53],
    ['http://[2001:DB8::1]:8080/', 'http', '2001:db8::1', 8080],
    ['2001:db8::1', 'https', '2001:db8::1', 443],
    ['[::1]:443', 'https', '::1', 443],
    ['tcp://_dmarc.example.com:25', 'tcp', '_dmarc.example.com', 25],
  ])('%s', (text, scheme, host, port) => {
    const target = parseRouteTarget(text);
    expect(target).toMatchObject({ url: text, scheme, host, port });
    expect(target?.isAddress).toBe(isIP(host) > 0);
  });

  it.each([
    '',
    '   ',
    'https://',
    'https:///path',
    'http://exa mple.com',
    'http://example.com:0',
    'http://example.com:70000',
    'http://example.com:abc',
    '1.2.3.4.5',
    '999.1.1.1',
    '-bad-.com',
    'a..b',
    '[::1',
    '::1::2',
    'mystery://example.com',
    'http://\u0000example.com',
    `${'a'.repeat(64)}.com`,
  ])('refuses %j', (text) => {
    expect(parseRouteTarget(text)).toBeNull();
  });
});
