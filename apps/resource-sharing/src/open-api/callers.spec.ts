import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AddressRanges } from '../credentials/address-ranges.js';
import type { KeyRecord, TokenRecord, UserRecord } from '../credentials/credential-records.js';
import { Callers } from './callers.js';

const user = (id: number, premiumUntil: number | null = null): UserRecord => ({
  id,
  disabled: false,
  premiumUntil,
  permissions: [],
});

const key = (id: number, of: UserRecord | null): KeyRecord => ({
  id,
  kind: 'personal',
  name: 'a key',
  scopes: ['meta', 'query'],
  expiresAt: null,
  revoked: false,
  addresses: new AddressRanges([]),
  application: null,
  user: of,
  subjects: [],
});

const token = (of: UserRecord): TokenRecord => ({
  grantId: 3,
  applicationId: 4,
  clientId: 'client',
  scopes: ['meta'],
  identityScopes: [],
  expiresAt: Infinity,
  revoked: false,
  user: of,
  subjects: [],
});

describe('Callers', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000 }));
  afterEach(() => void vi.useRealTimers());

  it('stay the same as long as their records are the same', () => {
    const callers = new Callers();
    const record = key(1, user(7));
    expect(callers.of(record, undefined)).toBe(callers.of(record, undefined));
    expect(callers.of({ ...record, name: 'renamed' }, undefined)).toMatchObject({
      credentialName: 'renamed',
      userId: 7,
    });
  });

  it('are taken from the token if there is one, for each key', () => {
    const callers = new Callers();
    const [one, other, bearer] = [key(1, user(7)), key(2, user(7)), token(user(8))];
    expect(callers.of(one, bearer)).toMatchObject({ credentialId: 1, userId: 8, grantId: 3, scopes: ['meta'] });
    expect(callers.of(other, bearer)).toMatchObject({ credentialId: 2, userId: 8, grantId: 3 });
    expect(callers.of(one, undefined)).toMatchObject({ credentialId: 1, userId: 7, grantId: null });
  });

  it('lose Premium at the moment when it ends', () => {
    const callers = new Callers();
    const record = key(1, user(7, 2_000));
    expect(callers.of(record, undefined).isPremium).toBe(true);
    vi.setSystemTime(1_999);
    expect(callers.of(record, undefined).isPremium).toBe(true);
    vi.setSystemTime(2_000);
    expect(callers.of(record, undefined).isPremium).toBe(false);
  });
});
