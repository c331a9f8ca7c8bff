import { basename } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { Fields, isTable } from './fields.js';
import { CLIENT_REASONS, SERVER_REASONS, VISITOR_REASON } from './frp-reasons.js';
import { planProxy, type ProxyContext } from './frp-proxy.js';
import { fillRanges } from './frp-ranges.js';
import type { ImportPlan } from './import-plan.js';
import type { ImportReport } from './import-report.js';

export interface ImportFile {
  name: string;
  text: string;
}

interface ParsedFile {
  name: string;
  table: Record<string, unknown>;
}

/** Imports the TOML of frp 0.52 and later: frps.toml, and a client for each frpc.toml. */
export function planFrp(files: readonly ImportFile[], report: ImportReport): ImportPlan {
  const plan: ImportPlan = { clients: [], resources: [] };
  const parsed = files.flatMap((file) => parseToml(file, report));
  const servers = parsed.filter(({ table }) => isServer(table));
  const subDomainHost = servers
    .map(({ table, name }) => planServer(new Fields(table, { file: name, path: '' }, report)))
    .find((host) => host !== undefined);
  for (const file of parsed) if (!servers.includes(file)) planClient(file, subDomainHost, plan, report);
  return plan;
}

function parseToml({ name, text: written }: ImportFile, report: ImportReport): ParsedFile[] {
  const refuse = (message: string): [] => {
    report.add('refused', { file: name, path: '' }, message);
    return [];
  };
  const text = written.includes('{{') ? fillRanges(written) : written;
  if (text.includes('{{')) return refuse('the file has templates, which only frp fills in: import it with the values');
  if (/^[ \t]*\[common\][ \t]*\r?$/m.test(text))
    return refuse('this is the INI format of frp before 0.52: convert it to TOML first');
  try {
    const table: unknown = parse(text, { maxDepth: 32 });
    return isTable(table) ? [{ name, table }] : refuse('must be a TOML document');
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return refuse(`line ${error.line}: ${error.message.split('\n')[0]}`);
  }
}

function isServer(table: Record<string, unknown>): boolean {
  const names = ['bindPort', 'vhostHTTPPort', 'vhostHTTPSPort', 'allowPorts', 'subDomainHost', 'bindAddr'];
  return !('proxies' in table) && !('serverAddr' in table) && names.some((name) => name in table);
}

/** The suffix of host names. */
function planServer(fields: Fields): string | undefined {
  const host = fields.filled('subDomainHost', 'the end of the names of hosts');
  for (const { as, ...place } of fields.leaves) fields.record('taken', place, as);
  fields.rest(SERVER_REASONS);
  return host;
}

function planClient(
  { name: file, table }: ParsedFile,
  subDomainHost: string | undefined,
  plan: ImportPlan,
  report: ImportReport,
): void {
  const fields = new Fields(table, { file, path: '' }, report);
  const user = fields.filled('user', 'the name of the client, and before the names of its tunnels');
  const start = fields.texts('start', 'which tunnels and hosts are served');
  const context: ProxyContext = {
    client: file,
    prefix: user === undefined ? '' : `${user}.`,
    starts: start.length === 0 ? null : new Set(start),
    subDomainHost,
  };
  plan.clients.push({
    ...fields.place,
    key: file,
    name: user ?? basename(file).replace(/\.toml$/i, ''),
    leaves: fields.leaves,
    body: {},
    rules: [],
  });
  for (const proxy of fields.tables('proxies')) plan.resources.push(...planProxy(proxy, context));
  for (const visitor of fields.tables('visitors')) visitor.rest({ '*': VISITOR_REASON });
  fields.rest(CLIENT_REASONS);
}
