import { describe, expect, it } from 'vitest';
import { DestinationRules } from './destination-rules.js';

const match = (patterns: string[], host: string, port: number, address = host): boolean =>
  new DestinationRules(patterns).match({ host, port }, address);

describe('destination rules', () => {
  it.each([
    ['db.internal:5432', 'DB.internal.', 5432, '10.0.0.5', true],
    ['db.internal:5432', 'db.internal', 5433, '10.0.0.5', false],
    ['db.internal', 'evil-db.internal', 1, '10.0.0.5', false],
    ['*.corp.example', 'a.b.corp.example', 80, '10.0.0.5', true],
    ['*.corp.example', 'corp.example', 80, '10.0.0.5', false],
    ['*.corp.example', 'xcorp.example', 80, '10.0.0.5', false],
    ['10.0.0.0/8:80,443,8000-8100', '10.1.2.3', 8050, '10.1.2.3', true],
    ['10.0.0.0/8:80,443,8000-8100', '10.1.2.3', 8101, '10.1.2.3', false],
    // A name is believed for what it leads to, never for what it looks like.
    ['10.0.0.0/8', 'public.example', 80, '10.1.2.3', true],
    ['10.0.0.0/8', '10.evil.example', 80, '203.0.113.9', false],
    ['127.0.0.1:22', '127.0.0.1', 22, '::ffff:127.0.0.1', true],
    ['[2001:db8::]/32:443', 'v6.example', 443, '2001:db8::1', true],
    ['2001:db8::1', 'v6.example', 1, '2001:db8::1', true],
    ['[::1]:22', '::1', 23, '::1', false],
    ['*:22', 'anything', 22, '192.0.2.1', true],
    ['*:*', 'anything', 9, '192.0.2.1', true],
  ])('%s matches %s:%i (%s): %s', (pattern, host, port, address, expected) => {
    expect(match([pattern], host, port, address)).toBe(expected);
  });

  it('match nothing if there are none', () => {
    expect(match([], 'a', 1, '127.0.0.1')).toBe(false);
    expect(new DestinationRules([]).empty).toBe(true);
  });

  it.each([
    '',
    'a b',
    'host:0',
    'host:70000',
    'host:9-3',
    'host:x',
    '-a',
    'a..b',
    '*x.example',
    'http://a',
    '10.0.0.0/33',
  ])('report that "%s" cannot be read', (text) => {
    expect(() => new DestinationRules([text])).toThrow(`"${text}"`);
  });
});
