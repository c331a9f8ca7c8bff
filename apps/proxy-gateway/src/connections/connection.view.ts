import type { ConnectionView } from '@gatehouse/contracts';
import type { AsnLookup, ConnectionSnapshot, CountryLookup } from '@gatehouse/proxy-kernel';
import type { KernelConnection } from '../kernel-process/merge-answers.js';
import { nodeIdOf } from '../data/flow-names.js';
import type { FlowNames } from '../data/flow-names.js';

/** Looks up where addresses are located. */
export interface Places {
  country: CountryLookup;
  asn: AsnLookup;
}

/** An open connection as the API shows it. */
export function toConnectionView(
  connection: KernelConnection,
  names: FlowNames,
  places: Places,
  now: number,
): ConnectionView {
  return {
    ...describeEnds(connection, places),
    ...describeRoute(connection, names),
    ...describeTraffic(connection, now),
    kernel: connection.kernel ?? null,
  };
}

/** The client and the destination. */
function describeEnds(connection: ConnectionSnapshot, places: Places) {
  const target = targetAddress(connection);
  const asn = target === null ? null : places.asn(target);
  return {
    id: connection.id,
    network: connection.network,
    type: connection.type,
    source_ip: connection.sourceIp,
    source_port: connection.sourcePort,
    host: connection.host,
    sniff_host: connection.sniffHost ?? null,
    destination_ip: connection.destinationIp,
    destination_port: connection.destinationPort,
    remote_destination: connection.remoteDestination,
    destination_country: target === null ? null : places.country(target),
    destination_asn: asn === null ? null : `AS${asn}`,
    inbound_name: connection.inboundName,
    inbound_user: connection.inboundUser,
    dns_mode: connection.fakeIp ? ('fake-ip' as const) : ('normal' as const),
    process: null,
  };
}

/** The address of the destination itself: through a node, the remote end is the node's server. */
function targetAddress({ destinationIp, nodeTag, remoteDestination }: ConnectionSnapshot): string | null {
  return destinationIp ?? (nodeTag === null ? remoteDestination : null);
}

/** The rule and the chain that the connection follows. */
function describeRoute({ rule, chain, nodeTag }: ConnectionSnapshot, names: FlowNames) {
  const node = names.node(nodeTag);
  return {
    rule: rule?.type ?? null,
    rule_payload: rule?.payload ?? null,
    rule_id: rule?.id ?? null,
    chains: names.chain(chain),
    provider_chains: node?.subscriptionName == null ? [] : [node.subscriptionName],
    node_id: nodeIdOf(nodeTag),
    node_name: node?.name ?? null,
    node_country: node?.country ?? null,
  };
}

function describeTraffic(connection: ConnectionSnapshot, now: number) {
  return {
    upload: connection.upload,
    download: connection.download,
    upload_speed: connection.uploadSpeed,
    download_speed: connection.downloadSpeed,
    start: new Date(connection.startedAt).toISOString(),
    duration_ms: Math.max(0, now - connection.startedAt),
    state: connection.state,
  };
}
