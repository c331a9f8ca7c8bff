import { describe, expect, it } from 'vitest';
import type { PolicyRow } from './config-rows.js';
import { toPolicy } from './policy-mapper.js';
import { PolicySecrets } from './policy-secrets.js';

const secrets = new PolicySecrets(Buffer.alloc(32, 1).toString('base64'));
const ROW: PolicyRow = {
  id: 1,
  kind: 'host',
  resourceId: 2,
  type: 'oauth',
  password: null,
  callbackUrl: null,
  copyHeaders: [],
  allowPrivate: false,
  oauth: { issuer: 'https://a.example', clientId: 'x' },
  sealedSecret: null,
  ttlSeconds: 60,
  version: 3,
};
const map = (row: Partial<PolicyRow>): ReturnType<typeof toPolicy> =>
  toPolicy({ ...ROW, ...row }, (policyId, sealed) => secrets.open(policyId, sealed));

describe('a policy of type oauth', () => {
  it('gets its client secret, which is sealed in tables and snapshots', () => {
    const sealedSecret = secrets.seal(1, 'the secret');
    expect(sealedSecret).not.toContain('secret');
    expect(map({ sealedSecret }).oauth).toEqual({ ...ROW.oauth, clientSecret: 'the secret' });
    expect(map({}).oauth).toEqual({ ...ROW.oauth, clientSecret: null });
    expect(map({ oauth: null })).not.toHaveProperty('oauth');
  });

  it('refuses everyone if its secret cannot be opened, because it is not a public client', () => {
    const other = new PolicySecrets(Buffer.alloc(32, 2).toString('base64'));
    for (const sealedSecret of [
      other.seal(1, 'x'),
      secrets.seal(2, 'x'),
      '',
      'c1.',
      'v1.AAAA',
      `${secrets.seal(1, 'x').slice(0, -2)}AA`,
    ]) {
      expect(map({ sealedSecret })).not.toHaveProperty('oauth');
    }
  });
});
