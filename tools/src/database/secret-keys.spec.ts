import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { secretKeysOf } from './secret-keys.js';

const [older, newer] = [randomBytes(32), randomBytes(32)];
const HOME = '/nowhere';

describe('secretKeysOf', () => {
  it('reads several keys, the newest first, before the single one', () => {
    const several = `${newer.toString('base64')},${older.toString('base64')}`;
    const env = { GATEHOUSE_SECRET_KEYS: several, GATEHOUSE_SECRET_KEY: older.toString('base64') };
    expect(secretKeysOf(env, HOME)).toEqual([newer, older]);
  });

  it.each(['', ' '])('reads the single key where the variable of several is %j', (empty) => {
    const env = { GATEHOUSE_SECRET_KEYS: empty, GATEHOUSE_SECRET_KEY: older.toString('base64') };
    expect(secretKeysOf(env, HOME)).toEqual([older]);
  });

  it('finds none where both are empty and the home has no key', () => {
    expect(secretKeysOf({ GATEHOUSE_SECRET_KEYS: '', GATEHOUSE_SECRET_KEY: '' }, HOME)).toEqual([]);
  });
});
