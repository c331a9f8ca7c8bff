import { describe, expect, it } from 'vitest';
import { isPublicName, isPublicSuffix, parseDomain } from './domain-name.js';

describe('a domain of a user', () => {
  it.each([
    ['Example.ORG.', 'example.org'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['ann.co.uk', 'ann.co.uk'],
    ['ann.github.io', 'ann.github.io'],
    ['deep.below.example.org', 'deep.below.example.org'],
    ['nas.lan', 'nas.lan'],
  ])('%s is stored as %s', (text, name) => expect(parseDomain(text)).toBe(name));

  it.each([
    ['com', 'public suffix'],
    ['co.uk', 'public suffix'],
    ['github.io', 'public suffix'],
    ['lan', 'public suffix'],
    ['*.example.org', 'without *'],
    ['*', 'without *'],
    ['localhost', 'nobody'],
    ['app.localhost', 'nobody'],
    ['printer.local', 'nobody'],
    ['1.0.0.127.in-addr.arpa', 'nobody'],
    ['10.0.0.1', 'a name'],
    [`${'a.'.repeat(120)}org`, '230'],
  ])('%s is refused', (text, why) => expect(() => parseDomain(text)).toThrow(why));

  it('can be proven if it has a public suffix', () => {
    expect(['example.org', 'ann.github.io', 'nas.lan', 'a.example'].map(isPublicName)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(['org', 'lan', 'example.org'].map(isPublicSuffix)).toEqual([true, false, false]);
  });
});
