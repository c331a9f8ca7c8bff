import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AddressRanges } from '../credentials/address-ranges.js';
import type { ClientRecord, KeyRecord, TokenRecord, UserRecord } from '../credentials/credential-records.js';
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

  it('are public applications without a key, known by their record', () => {
    const callers = new Callers();
    const client: ClientRecord = {
      id: 4,
      clientId: 'client',
      ownerId: 9,
      name: 'Player',
      kind: 'native',
      usable: true,
      allowedScopes: ['meta', 'query'],
      quotaProfile: 'wide',
      addresses: new AddressRanges([]),
    };
    const bearer = token(user(8));
    const credential = callers.credentialOf(client);
    expect(callers.credentialOf(client)).toBe(credential);
    const caller = callers.of(credential, bearer);
    expect(caller).toMatchObject({ credentialId: null, credentialName: 'Player', applicationId: 4, userId: 8 });
    expect(caller).toMatchObject({ credentialKind: 'application', scopes: ['meta'], quotaProfile: 'wide' });
    expect(callers.of(callers.credentialOf(client), bearer)).toBe(caller);
    // A changed application is another record.
    const changed = callers.credentialOf({ ...client, allowedScopes: ['query'] });
    expect(callers.of(changed, bearer).scopes).toEqual([]);
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
