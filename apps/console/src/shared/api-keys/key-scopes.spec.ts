import { expect, it } from 'vitest';
import { wordsOfScopes } from './key-scopes.js';

const MAY = { read: 'Read', write: 'Read and write', admin: 'Everything' };

it('says what a key may do by the highest of its scopes', () => {
  expect(wordsOfScopes(['read'], MAY)).toBe('Read');
  expect(wordsOfScopes(['write', 'read'], MAY)).toBe('Read and write');
  expect(wordsOfScopes(['read', 'write', 'admin'], MAY)).toBe('Everything');
});

it('lists the scopes of a key that lacks one in between', () => {
  expect(wordsOfScopes(['read', 'admin'], MAY)).toBe('read, admin');
});
