import type { ConnectionListResponse, ConnectionsClosedResponse } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { KernelService } from '../kernel-process/kernel.service.js';
import type { KernelConnection } from '../kernel-process/merge-answers.js';
import { CountryDatabase } from '../nodes/country-database.js';
import { AccountingService } from '../traffic/accounting.service.js';
import { NodeDirectory } from '../traffic/node-directory.js';
import { TrafficTotalsService } from '../traffic/traffic-totals.service.js';
import type { ConnectionFilter, ConnectionQuery } from './connection.dto.js';
import { toConnectionView } from './connection.view.js';
import type { Places } from './connection.view.js';
import { sortConnections } from './sort-connections.js';
import type { FlowNames } from '../data/flow-names.js';
import { parseRuleText } from '../wire/rule-text.js';

@Injectable()
export class ConnectionsService {
  private readonly places: Places;

  constructor(
    private readonly kernel: KernelService,
    private readonly nodes: NodeDirectory,
    private readonly accounting: AccountingService,
    private readonly totals: TrafficTotalsService,
    countries: CountryDatabase,
  ) {
    this.places = { country: countries.lookup, asn: countries.asn };
  }

  /** @throws AppError KERNEL_UNAVAILABLE */
  async list(query: ConnectionQuery): Promise<ConnectionListResponse> {
    const { limit, offset, sort } = query;
    const [open, status, totals] = await Promise.all([
      this.kernel.connections(),
      this.kernel.status(),
      this.totals.all(),
    ]);
    const names = await this.nodes.names(tagsOf(open));
    const found = filterConnections(open, query, names);
    const page = sortConnections(found, sort).slice(offset, limit === undefined ? undefined : offset + limit);
    const speed = this.accounting.speed();
    const now = Date.now();
    return {
      upload_total: totals.upload,
      download_total: totals.download,
      upload_speed: speed.upload,
      download_speed: speed.download,
      memory_bytes: status.rssBytes,
      count: open.length,
      total: found.length,
      connections: page.map((connection) => toConnectionView(connection, names, this.places, now)),
      limit: limit ?? null,
      offset,
    };
  }

  /** @throws AppError NOT_FOUND when no such connection is open. */
  async close(id: string): Promise<ConnectionsClosedResponse> {
    if (!(await this.kernel.closeConnection(id))) throw new AppError('NOT_FOUND', 'No such connection is open');
    return { closed: 1 };
  }

  /** Closes the connections that match the filter, or all of them without one. @throws AppError KERNEL_UNAVAILABLE */
  async closeMany(filter: ConnectionFilter): Promise<ConnectionsClosedResponse> {
    if (Object.values(filter).every((value) => value === undefined)) {
      return { closed: await this.kernel.closeConnections() };
    }
    const open = await this.kernel.connections();
    const found = filterConnections(open, filter, await this.nodes.names(tagsOf(open)));
    if (found.length === 0) return { closed: 0 };
    return { closed: await this.kernel.closeConnections({ ids: found.map(({ id }) => id) }) };
  }
}

function tagsOf(connections: readonly KernelConnection[]): Set<string> {
  return new Set(connections.flatMap(({ chain }) => chain));
}

/** The connections that match every field given; `connections` itself if the filter is empty. */
function filterConnections(
  connections: readonly KernelConnection[],
  filter: ConnectionFilter,
  names: FlowNames,
): readonly KernelConnection[] {
  const tests = [...testsOf(filter), ...namingTests(filter, names)];
  if (tests.length === 0) return connections;
  return connections.filter((connection) => tests.every((test) => test(connection)));
}

type Test = (connection: KernelConnection) => boolean;

function testsOf({ node_id: nodeId, rule_id: ruleId, rule: text, ...filter }: ConnectionFilter): Test[] {
  const tests: Test[] = [];
  const { network, inbound, group, kernel: where, source_ip: ip } = filter;
  if (network !== undefined) tests.push((connection) => connection.network === network);
  if (inbound !== undefined) tests.push(({ inboundName }) => inboundName === inbound);
  if (ruleId !== undefined) tests.push(({ rule }) => rule?.id === ruleId);
  if (nodeId !== undefined) tests.push(({ chain }) => chain.includes(`n${nodeId}`));
  if (group !== undefined) tests.push(({ chain }) => chain.slice(0, -1).includes(group));
  if (where !== undefined) tests.push(({ kernel }) => kernel === where);
  if (ip !== undefined) tests.push(({ sourceIp }) => sourceIp === ip);
  if (text !== undefined) {
    const wanted = parseRuleText(text);
    tests.push(({ rule }) =>
      wanted === null ? rule === null : rule?.type === wanted.type && rule.payload === wanted.payload,
    );
  }
  return tests;
}

/** Tests that need the names that users see. */
function namingTests({ search, node }: ConnectionFilter, names: FlowNames): Test[] {
  const tests: Test[] = [];
  if (node !== undefined) tests.push(({ chain }) => names.chain(chain).at(-1) === node);
  if (search !== undefined) {
    const word = search.toLowerCase();
    tests.push((connection) => textsOf(connection, names).some((text) => text?.toLowerCase().includes(word)));
  }
  return tests;
}

function textsOf(connection: KernelConnection, names: FlowNames): (string | null | undefined)[] {
  const { host, sniffHost, sourceIp, destinationIp, remoteDestination, inboundUser, rule, chain } = connection;
  return [
    host,
    sniffHost,
    destinationIp,
    remoteDestination,
    sourceIp,
    inboundUser,
    rule?.type,
    rule?.payload,
    ...names.chain(chain),
  ];
}
