import type { SubscriptionTraffic } from '@gatehouse/contracts';
import { parseUserinfo } from '@gatehouse/subscription-formats';
import { expect, it } from 'vitest';
import { formatUserinfo } from './userinfo.js';

const traffic = (more: Partial<SubscriptionTraffic>): SubscriptionTraffic => ({
  upload: null,
  download: null,
  total: null,
  remaining: null,
  used_percent: null,
  expire_at: null,
  ...more,
});
const ONE = traffic({ upload: 1, download: 2, total: 10, expire_at: '2031-01-01T00:00:00.000Z' });
const OTHER = traffic({ upload: 10, download: 20, total: 100, expire_at: '2030-01-01T00:00:00.000Z' });

it('adds quotas, and takes the earliest end', () => {
  const text = formatUserinfo([ONE, null, OTHER]);
  expect(text).toBe('upload=11; download=22; total=110; expire=1893456000');
  expect(parseUserinfo(text ?? '')).toMatchObject({ upload: 11, download: 22, total: 110 });
});

it('states no total where one of them has none', () => {
  expect(formatUserinfo([ONE, traffic({ download: 5 })])).toBe('upload=1; download=7; expire=1924992000');
});

it('says nothing where nothing is known', () => {
  expect(formatUserinfo([null, traffic({})])).toBeUndefined();
});
