import type { Actor } from '@gatehouse/auth';
import { describe, expect, it } from 'vitest';
import { refuseLooserLimits } from './client-limits.js';

const actor = (scope: 'write' | 'admin'): Actor => ({
  credential: 'session',
  credentialId: 1,
  userId: 1,
  name: 'ada',
  role: 'user',
  scopes: [scope],
});
const may = new Date('2030-05-01T00:00:00Z');
const june = new Date('2030-06-01T00:00:00Z');
const limited = { rateLimit: 100, maxConn: 10, expireAt: may };
const unlimited = { rateLimit: 0, maxConn: null, expireAt: null };

describe('limits of clients', () => {
  it.each([
    [limited, {}],
    [limited, { rateLimit: 100, maxConn: 10, expireAt: may }],
    [limited, { rateLimit: 1, maxConn: 1, expireAt: new Date(0) }],
    [unlimited, { rateLimit: 5, maxConn: 5, expireAt: june }],
    [unlimited, { rateLimit: 0, maxConn: 0, expireAt: null }],
  ])('of %j can be changed to %j', (before, changes) => {
    expect(() => refuseLooserLimits(actor('write'), before, changes)).not.toThrow();
  });

  it.each([
    [{ rateLimit: 101 }, 'rate_limit'],
    [{ rateLimit: 0 }, 'rate_limit'],
    [{ maxConn: 11 }, 'max_conn'],
    [{ maxConn: 0 }, 'max_conn'],
    [{ expireAt: june }, 'expire_at'],
    [{ expireAt: null }, 'expire_at'],
    [{ rateLimit: 50, maxConn: 0, expireAt: null }, 'max_conn, expire_at'],
  ])('can be changed to %j only by administrators', (changes, fields) => {
    expect(() => refuseLooserLimits(actor('write'), limited, changes)).toThrow(fields);
    expect(() => refuseLooserLimits(actor('admin'), limited, changes)).not.toThrow();
  });
});
