import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDescription } from './support/description.js';
import type { Description } from './support/description.js';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';

const WHO = ['nobody', 'garbage', 'keyRead', 'keyWrite', 'keyAdmin', 'login'] as const;
type Who = (typeof WHO)[number];
/** `in`: the guard lets the call through, whatever the operation answers. */
type Expected = 'in' | 401 | 403;

const RULES = {
  open: ['in', 'in', 'in', 'in', 'in', 'in'],
  read: [401, 401, 'in', 'in', 'in', 'in'],
  write: [401, 401, 403, 'in', 'in', 'in'],
  admin: [401, 401, 403, 403, 'in', 'in'],
  /** Issues, revokes or changes credentials. */
  login: [401, 401, 403, 403, 403, 'in'],
} as const satisfies Record<string, readonly Expected[]>;

/** Every operation of the interface description; a new one needs a word here. */
const OPERATIONS: Record<keyof typeof RULES, string> = {
  open: 'auth_login auth_status publicationFetch_fetch',
  read:
    'changes_follow connections_list countries_list dashboard_read geo_status jobs_follow jobs_get kernels_list nodeBatch_ids nodes_list outbound_group ' +
    'outbound_history outbound_overview profiles_list publicationTemplates_get publicationTemplates_list proxyUsers_get proxyUsers_list proxyUsers_traffic publications_get publications_list ruleSets_get ruleSets_list ruleTransfer_export rules_get rules_list ' +
    'rules_listMerged rules_test runtimeLogs_follow runtimeLogs_list settings_defaults settings_read subscriptions_get ' +
    'subscriptions_lastRefresh subscriptions_list system_status trafficLogs_list',
  write:
    'connections_close connections_closeMany countries_rebuild geo_update jobs_cancel kernels_drain kernels_serve nodeBatch_run nodeTransfer_export nodeTransfer_import nodes_create nodes_remove ' +
    'nodes_update outbound_choose outbound_create outbound_release outbound_remove outbound_setDefaultPolicy ' +
    'outbound_update profiles_activate proxyUsers_create proxyUsers_remove proxyUsers_resetTraffic proxyUsers_update publicationTemplates_create publicationTemplates_preview publicationTemplates_remove publicationTemplates_update publications_preview publications_remove publications_update ruleSets_create ruleSets_refresh ruleSets_remove ruleSets_update ruleTransfer_import ' +
    'rules_create rules_remove rules_update speedTests_test speedTests_testAll subscriptions_create ' +
    'subscriptions_preview subscriptions_refresh subscriptions_remove subscriptions_update system_reload',
  admin: 'apiKeys_list auditLogs_list auditLogs_verify settings_change',
  login:
    'apiKeys_create apiKeys_revoke auth_changePassword auth_readPreferences auth_savePreferences publications_create publications_renewToken',
};
const RULE_OF = new Map(
  Object.entries(OPERATIONS).flatMap(([rule, names]) =>
    names.split(' ').map((name) => [name, rule as keyof typeof RULES] as const),
  ),
);

let gateway: Gateway;
let description: Description;
const headers = {} as Record<Who, Record<string, string>>;

beforeAll(async () => {
  gateway = await startGateway({ API_RATE_LIMIT: '0' });
  description = await readDescription(gateway.app.url);
  headers.nobody = { authorization: '' };
  headers.garbage = { authorization: 'Bearer gpk_nonsense' };
  headers.login = { authorization: gateway.authorization() };
  for (const [who, scope] of [
    ['keyRead', 'read'],
    ['keyWrite', 'write'],
    ['keyAdmin', 'admin'],
  ] as const) {
    const { body } = await gateway.call('POST', '/api-keys', { name: who, scopes: [scope] });
    headers[who] = { 'x-api-key': body.key };
  }
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** The id does not exist and no body is valid: an allowed call gets 400 or 404 and changes nothing. */
async function statusOf(id: string, who: Who): Promise<number> {
  const { method, path } = description.operation(id);
  const stop = new AbortController();
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{"nonsense":1}' };
  const fields = Object.entries({ ...headers[who], 'content-type': 'application/json' }).filter(([, value]) => value);
  const url = `${gateway.app.url}${path.replaceAll(/\{\w+\}/g, '987654')}`;
  const { status } = await fetch(url, { method, headers: Object.fromEntries(fields), signal: stop.signal, ...body });
  // A stream does not end on its own.
  stop.abort();
  return status;
}

describe('who may do what', () => {
  it('is defined for every described operation, and for no other', () => {
    expect([...RULE_OF.keys()].toSorted()).toEqual(description.operationIds().toSorted());
  });

  it.each([...RULE_OF])('%s: %s', async (id, rule) => {
    const answered: Record<string, unknown> = {};
    const wanted: Record<string, unknown> = {};
    for (const [index, who] of WHO.entries()) {
      const expected = RULES[rule][index];
      answered[who] = await statusOf(id, who);
      wanted[who] = expected === 'in' ? expect.toSatisfy((status) => letIn(status as number)) : expected;
    }
    expect(answered).toEqual(wanted);
  });

  it('lets an administrator’s key change settings, but not how people log in', async () => {
    const change = (body: object, who: Who) =>
      gateway.call('PUT', '/settings', body, { authorization: '', ...headers[who] });
    expect((await change({ 'kernel.log_level': 'warning' }, 'keyAdmin')).status).toBe(200);
    const aboutLogins = [
      { 'auth.enabled': 'false' },
      { 'auth.token_ttl_sec': '3600' },
      { 'kernel.users': 'a:b' },
      { 'kernel.require_login': 'false' },
    ];
    for (const body of aboutLogins) {
      const together = { 'kernel.log_level': 'debug', ...body };
      const refused = await change(together, 'keyAdmin');
      expect([refused.status, refused.body.code], JSON.stringify(body)).toEqual([403, 'FORBIDDEN']);
    }
    const { body: settings } = await gateway.call('GET', '/settings');
    expect(settings).toMatchObject({ 'auth.enabled': 'true', 'kernel.users': '', 'kernel.log_level': 'warning' });
    expect((await change({ 'auth.token_ttl_sec': '3600' }, 'login')).status).toBe(200);
  });
});

function letIn(status: number): boolean {
  return status < 500 && status !== 401 && status !== 403;
}
