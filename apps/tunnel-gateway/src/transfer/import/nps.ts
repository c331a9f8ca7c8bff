import { Fields, isTable, own, readPorts, type Ports } from './fields.js';
import type { ImportFile } from './frp.js';
import { fileTarget } from './frp-proxy.js';
import type { ImportPlan, PlannedClient, PlannedResource } from './import-plan.js';
import type { ImportReport } from './import-report.js';
import { planNpsClient } from './nps-client.js';
import { isUnset, NPS_FLOW_REASONS, NPS_HOST_REASONS, NPS_TASK_REASONS } from './nps-reasons.js';
import { inside, readNpsRecords, type NpsRecord } from './nps-records.js';

type Accounts = PlannedResource['accounts'];

/** Imports clients.json, tasks.json and hosts.json of nps, as written by ehang-io's and by djylb's version. */
export function planNps(files: readonly ImportFile[], report: ImportReport): ImportPlan {
  return new NpsPlanner(report).plan(files.flatMap((file) => readNpsRecords(file, report)));
}

class NpsPlanner {
  private readonly report: ImportReport;
  private readonly clients = new Map<string, PlannedClient>();
  /** Accounts for the http proxies, SOCKS proxies and hosts of a client. */
  private readonly accounts = new Map<string, Accounts>();

  constructor(report: ImportReport) {
    this.report = report;
  }

  plan(records: readonly NpsRecord[]): ImportPlan {
    for (const record of records) if (record.kind === 'clients') this.addClient(record);
    const resources = records.flatMap((record) => (record.kind === 'clients' ? [] : this.resource(record)));
    return { clients: [...this.clients.values()], resources };
  }

  private addClient({ value, file, path }: NpsRecord): void {
    const { client, accounts } = planNpsClient(new Fields(value, { file, path }, this.report));
    if (this.clients.has(client.key)) {
      this.report.add('refused', client, `another client has the Id ${client.key}`);
      return;
    }
    this.clients.set(client.key, client);
    this.accounts.set(client.key, accounts);
  }

  private resource(record: NpsRecord): PlannedResource[] {
    const { file, path, value, kind } = record;
    const fields = new Fields(value, { file, path }, this.report);
    const client = this.clientOf(fields, record);
    if (client === null) return [];
    const found = kind === 'tasks' ? planTask(fields, this.accounts.get(client) ?? []) : null;
    const part = kind === 'hosts' ? planHost(fields, this.accounts.get(client) ?? []) : found;
    fields.table('Flow').rest(NPS_FLOW_REASONS, isUnset);
    fields.rest(kind === 'tasks' ? NPS_TASK_REASONS : NPS_HOST_REASONS, isUnset);
    if (part === null) return [];
    return [{ file, path, client, kind: kind === 'tasks' ? 'tunnel' : 'host', leaves: fields.leaves, ...part }];
  }

  /** The client's key in the plan: tasks and hosts contain a copy of their client, or its id. */
  private clientOf(fields: Fields, { value, file, path }: NpsRecord): string | null {
    const copy = value['Client'];
    fields.table('Client');
    const id = isTable(copy) && typeof copy['Id'] === 'number' ? String(copy['Id']) : '';
    if (this.clients.has(id)) return id;
    if (isTable(copy) && typeof copy['VerifyKey'] === 'string' && copy['VerifyKey'] !== '') {
      this.addClient({ kind: 'clients', value: copy, file, path: inside({ file, path }, 'Client').path });
      return this.clients.has(id) ? id : null;
    }
    fields.refuse('Client', `no client with the Id ${id.slice(0, 20) || '?'} is in these files`);
    return null;
  }
}

type Part = Pick<PlannedResource, 'name' | 'body' | 'accounts'>;

const MODES: Readonly<Record<string, string>> = {
  tcp: 'tcp',
  udp: 'udp',
  httpProxy: 'http_proxy',
  socks5: 'socks5',
  mixProxy: 'mix_proxy',
  secret: 'secret',
  p2p: 'p2p',
  file: 'file',
};
const PROXIES = new Set(['http_proxy', 'socks5', 'mix_proxy']);

function planTask(fields: Fields, ofClient: Accounts): Part | null {
  const said = fields.filled('Mode', 'mode') ?? '';
  const mode = modeOf(fields, said);
  if (mode === undefined) {
    fields.refuse('Mode', 'must be tcp, udp, httpProxy, socks5, mixProxy, secret, p2p or file');
    return null;
  }
  const target = fields.table('Target');
  const lines = readTargets(target) ?? fields.filled('TargetAddr', 'target_addr') ?? '';
  const protocol = target.integer('ProxyProtocol', 'proxy_protocol') ?? 0;
  target.rest({ LocalProxy: 'only agents connect to targets', TargetArr: 'the same as TargetStr' }, isUnset);
  const listenIp = fields.filled('ServerIp', 'listen_ip');
  const { first: port, count } = readListenPorts(fields, mode);
  const accounts = readAccounts(fields);
  if (accounts.length > 0 && !PROXIES.has(mode) && mode !== 'file') {
    fields.note('MultiAccount', `a tunnel of mode ${mode} asks nobody for a name: make a policy of type password`);
  }
  const name = fields.filled('Remark', 'name');
  return {
    name: name ?? `${said} ${port}`,
    accounts: accountsFor(mode, accounts, ofClient),
    body: {
      mode,
      target_addr: PROXIES.has(mode) ? '' : mode === 'file' ? readFolder(fields) : lines,
      status: (fields.flag('Status', 'status') ?? true) ? 1 : 0,
      ...(name !== undefined && { name }),
      ...(listenIp !== undefined && { listen_ip: listenIp }),
      ...(mode !== 'secret' && mode !== 'p2p' && { listen_port: port }),
      ...(count > 1 && { port_count: count }),
      ...(protocol !== 0 && { proxy_protocol: protocol }),
    },
  };
}

/** `Ports` is a range in place of `Port`; several of them stay as they are, and are reported. */
function readListenPorts(fields: Fields, mode: string): Ports {
  const port = fields.integer('Port', 'listen_port') ?? 0;
  const isRange = (mode === 'tcp' || mode === 'udp') && fields.isRange('Ports');
  const range = isRange ? readPorts(fields.filled('Ports', 'listen_port and port_count') ?? '') : undefined;
  return range ?? { first: port, count: 1 };
}

/** The task's own accounts, else those of its client, where the mode can ask for them. */
function accountsFor(mode: string, ofTask: Accounts, ofClient: Accounts): Accounts {
  if (mode === 'file') return ofTask;
  if (!PROXIES.has(mode)) return [];
  return ofTask.length > 0 ? ofTask : ofClient;
}

/** djylb's mixed proxy names the protocol. */
function modeOf(fields: Fields, said: string): string | undefined {
  const [http, socks] = [fields.flag('HttpProxy', 'mode') ?? false, fields.flag('Socks5Proxy', 'mode') ?? false];
  if (said !== 'mixProxy' || http === socks) return own(MODES, said);
  return http ? 'http_proxy' : 'socks5';
}

function readFolder(fields: Fields): string {
  const path = fields.filled('LocalPath', 'target_addr') ?? '';
  const readOnly = fields.flag('ReadOnly', 'target_addr');
  return fileTarget(path, fields.filled('StripPre', 'target_addr'), readOnly ?? true);
}

function planHost(fields: Fields, ofClient: Accounts): Part {
  const host = fields.filled('Host', 'host') ?? '';
  const location = fields.filled('Location', 'location') ?? '/';
  const secure = fields.flag('TargetIsHttps', 'target_addr') ?? false;
  const target = fields.table('Target');
  const lines = readTargets(target) ?? '';
  target.rest({ LocalProxy: 'only agents connect to targets', TargetArr: 'the same as TargetStr' }, isUnset);
  const rewrite = fields.filled('HostChange', 'rewrite_host');
  const scheme = fields.filled('Scheme', 'scheme');
  const request = readHeaders(fields, 'HeaderChange', 'request_headers');
  const response = readHeaders(fields, 'RespHeaderChange', 'response_headers');
  const accounts = readAccounts(fields);
  const redirects = fields.flag('AutoHttps', 'auto_https') ?? false;
  const orders = fields.flag('AutoSSL', 'auto_https') ?? false;
  if (fields.has('Remark')) fields.filled('Remark', 'the name in this report');
  return {
    name: `${host}${location}`,
    accounts: accounts.length > 0 ? accounts : ofClient,
    body: {
      host,
      location,
      target_addr: secure ? lines.replaceAll(/[^,]+/g, 'https://$&?insecure=1') : lines,
      auto_https: redirects || orders ? 1 : 0,
      status: (fields.flag('IsClose', 'status') ?? false) ? 0 : 1,
      ...(scheme !== undefined && { scheme }),
      ...(rewrite !== undefined && { rewrite_host: rewrite }),
      ...(request && { request_headers: request }),
      ...(response && { response_headers: response }),
    },
  };
}

/** Lines become a comma-separated list. */
function readTargets(target: Fields): string | undefined {
  const lines = target
    .filled('TargetStr', 'target_addr')
    ?.replaceAll('：', ':')
    .split(/[\r\n,]+/);
  const filled = lines?.map((line) => line.trim()).filter((line) => line !== '');
  // In nps, a port or a range alone means the agent's machine.
  return filled?.map((line) => (/^\d+(-\d+)?$/.test(line) ? `127.0.0.1:${line}` : line)).join(',');
}

function readHeaders(fields: Fields, name: string, as: string): Record<string, string> | undefined {
  const lines = fields
    .filled(name, as)
    ?.split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  if (lines === undefined) return undefined;
  const pairs = lines.map((line) => /^([^:]+):(.*)$/.exec(line.trim()));
  if (pairs.includes(null)) fields.refuse(name, 'must be lines of name, colon and value');
  return Object.fromEntries(pairs.flatMap((pair) => (pair ? [[(pair[1] ?? '').trim(), (pair[2] ?? '').trim()]] : [])));
}

function readAccounts(fields: Fields): Accounts {
  const all = ['MultiAccount', 'UserAuth'].flatMap((name) => {
    if (!fields.has(name)) return [];
    const table = fields.tableOrNothing(name);
    const map = table?.textMap('AccountMap', 'an auth policy') ?? {};
    table?.rest({ Content: 'the same as AccountMap' }, isUnset);
    return Object.entries(map);
  });
  return [...new Map(all)].map(([username, password]) => ({ username, password }));
}
