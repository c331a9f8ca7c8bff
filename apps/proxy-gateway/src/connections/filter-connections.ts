import type { ConnectionSnapshot } from '@gatehouse/proxy-kernel';
import type { FlowNames } from '../data/flow-names.js';
import type { ConnectionFilter } from './connection.dto.js';

/** Those that fulfil everything that is given; `connections` itself where nothing is. */
export function filterConnections(
  connections: readonly ConnectionSnapshot[],
  { search, node_id: nodeId, rule_id: ruleId, group, inbound, network }: ConnectionFilter,
  names: FlowNames,
): readonly ConnectionSnapshot[] {
  const tests: ((connection: ConnectionSnapshot) => boolean)[] = [];
  if (network !== undefined) tests.push((connection) => connection.network === network);
  if (inbound !== undefined) tests.push(({ inboundName }) => inboundName === inbound);
  if (ruleId !== undefined) tests.push(({ rule }) => rule?.id === ruleId);
  if (nodeId !== undefined) tests.push(({ chain }) => chain.includes(`n${nodeId}`));
  if (group !== undefined) tests.push(({ chain }) => chain.slice(0, -1).includes(group));
  if (search !== undefined) {
    const word = search.toLowerCase();
    tests.push((connection) => textsOf(connection, names).some((text) => text?.toLowerCase().includes(word)));
  }
  if (tests.length === 0) return connections;
  return connections.filter((connection) => tests.every((test) => test(connection)));
}

function textsOf(connection: ConnectionSnapshot, names: FlowNames): (string | null | undefined)[] {
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
