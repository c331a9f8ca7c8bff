import { describe, expect, it } from 'vitest';
import { auditTarget } from './audit-target.js';

describe('auditTarget', () => {
  it.each([
    ['POST', 'subscriptions', 'subscription.create', null],
    ['PUT', 'subscriptions/7', 'subscription.update', '7'],
    ['DELETE', 'subscriptions/7', 'subscription.delete', '7'],
    ['POST', 'subscriptions/7/refresh', 'subscription.refresh', '7'],
    ['POST', 'proxies/test-all', 'node.test_all', null],
    ['POST', 'proxies/3/test', 'node.test', '3'],
    ['POST', 'proxies/rebuild-countries', 'node.rebuild_countries', null],
    ['POST', 'rules/import', 'rule.import', null],
    ['DELETE', 'connections', 'connection.delete_all', null],
    ['DELETE', 'connections/a-b', 'connection.delete', 'a-b'],
    ['PUT', 'outbound/groups/A%2FB%20', 'outbound_group.switch', 'A/B '],
    ['PATCH', 'outbound/groups/A', 'outbound_group.update', 'A'],
    ['PUT', 'outbound/default-policy', 'default_policy.update', null],
    ['PUT', 'profiles/active', 'default_policy.profile', null],
    ['PUT', 'settings', 'settings.update', null],
    ['POST', 'auth/login', 'auth.login', null],
    ['POST', 'system/geo/update', 'system.geo_update', null],
    ['POST', 'rule-sets/4/refresh', 'rule_set.refresh', '4'],
    ['POST', 'kernels/a-b/drain', 'kernel.drain', 'a-b'],
    ['POST', 'nothing/like-this', 'unknown', null],
    ['POST', '', 'unknown', null],
    ['PUT', 'outbound/groups/%E0%A4%A', 'outbound_group.switch', '%E0%A4%A'],
  ])('%s %s is %s', (method, path, action, resourceId) => {
    expect(auditTarget(method, path)).toMatchObject({ action, resourceId });
  });

  it.each(['rules/test', 'subscriptions/preview'])('ignores %s, which only asks', (path) => {
    expect(auditTarget('POST', path)).toBeNull();
  });
});
