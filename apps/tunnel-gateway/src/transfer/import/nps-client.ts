import type { Fields } from './fields.js';
import type { PlannedClient, PlannedResource, PlannedRule } from './import-plan.js';
import { inside } from './nps-records.js';
import { isUnset, NPS_CLIENT_REASONS, NPS_FLOW_REASONS } from './nps-reasons.js';

const MEBIBYTE = 1_048_576;

/** One client of nps, and the accounts for its proxies and hosts. */
export function planNpsClient(fields: Fields): { client: PlannedClient; accounts: PlannedResource['accounts'] } {
  const key = String(fields.integer('Id', 'which tunnels and hosts are its') ?? '');
  const name = fields.filled('Remark', 'name') ?? `client ${key}`;
  const rate = fields.integer('RateLimit', 'rate_limit') ?? 0;
  const connections = fields.integer('MaxConn', 'max_conn') ?? 0;
  const enabled = fields.flag('Status', 'status') ?? true;
  const { expireAt, quota } = readFlow(fields);
  const rules = readRules(fields);
  const accounts = readAccount(fields);
  fields.rest(NPS_CLIENT_REASONS, isUnset);
  return {
    client: {
      ...fields.place,
      key,
      name,
      leaves: fields.leaves,
      rules,
      body: {
        // Both use 0 for no limit; nps also accepts negative numbers.
        rate_limit: Math.max(0, rate),
        max_conn: Math.max(0, connections),
        status: enabled ? 1 : 0,
        ...(expireAt !== undefined && { expire_at: expireAt }),
        ...(quota > 0 && { traffic_quota: quota }),
      },
    },
    accounts,
  };
}

/** nps counts the traffic limit in MiB, and never begins again. */
function readFlow(fields: Fields): { expireAt: string | undefined; quota: number } {
  const flow = fields.tableOrNothing('Flow');
  const limit = flow?.filled('TimeLimit', 'expire_at');
  const quota = Math.max(0, flow?.integer('FlowLimit', 'traffic_quota') ?? 0) * MEBIBYTE;
  flow?.rest(NPS_FLOW_REASONS, isUnset);
  const seconds = fields.has('ExpireAt') ? fields.integer('ExpireAt', 'expire_at') : undefined;
  if (seconds !== undefined && seconds > 0 && seconds < 1e11) {
    return { expireAt: new Date(seconds * 1_000).toISOString(), quota };
  }
  return { expireAt: limit === undefined || limit.startsWith('0001-01-01') ? undefined : limit, quota };
}

function readAccount(fields: Fields): PlannedResource['accounts'] {
  const login = fields.tableOrNothing('Cnf');
  const username = login?.filled('U', 'auth policies');
  const password = login?.filled('P', 'auth policies');
  login?.rest({ Compress: 'data is not compressed on the way', Crypt: 'connections of agents are encrypted' }, isUnset);
  return username !== undefined && password !== undefined ? [{ username, password }] : [];
}

/** Deny lists of ehang-io's version, deny and allow lists of djylb's. */
function readRules(fields: Fields): PlannedRule[] {
  const black = fields.texts('BlackIpList', 'rules that deny');
  const mode = fields.integer('EntryAclMode', 'the type of rules') ?? 0;
  const listed = fields.text('EntryAclRules', 'rules')?.split(/[\r\n,]+/) ?? [];
  const rule = (type: PlannedRule['type'], text: string, name: string): PlannedRule => ({
    ...patternOf(text.trim()),
    type,
    ...inside(fields.place, name),
  });
  const isSaid = (text: string): boolean => text.trim() !== '';
  return [
    ...black.filter(isSaid).map((text) => rule('deny', text, 'BlackIpList')),
    ...(mode === 1 || mode === 2 ? listed.filter(isSaid) : []).map((text) =>
      rule(mode === 1 ? 'allow' : 'deny', text, 'EntryAclRules'),
    ),
  ];
}

function patternOf(text: string): Pick<PlannedRule, 'pattern' | 'kind'> {
  const country = /^geoip:(!?[a-z]{2}|!?private)$/i.exec(text)?.[1];
  if (country !== undefined) {
    return {
      kind: 'country',
      pattern: country.toLowerCase().endsWith('private') ? country.toLowerCase() : country.toUpperCase(),
    };
  }
  if (text.includes('*')) return { kind: 'wildcard', pattern: text };
  if (text.includes('/')) return { kind: 'cidr', pattern: text };
  return { kind: text.includes('-') ? 'range' : 'exact', pattern: text };
}
