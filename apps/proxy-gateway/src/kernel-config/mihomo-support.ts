import type { ProxyNode } from '@gatehouse/contracts';
import { MIHOMO_TRANSPORTS } from '@gatehouse/subscription-formats';

/** The first version with XHTTP, which only VLESS has. */
const XHTTP_SINCE = [1, 19, 22] as const;

/**
 * Why a version of mihomo does not carry a node that it accepts; null if it does. What it does not accept is found when
 * the configuration is loaded.
 * @param version as the program prints it, such as `v1.19.13`; a version without a number counts as new.
 */
export function mihomoObstacle(node: ProxyNode, version: string): string | null {
  if (pinsOf(node)?.includes(',') === true) return `mihomo ${version} takes one pinned certificate, not several`;
  const transport = 'transport' in node ? node.transport?.type : undefined;
  if (transport === undefined) return null;
  if (MIHOMO_TRANSPORTS[node.type]?.includes(transport) !== true) {
    return `${node.type} over ${transport} is not carried by mihomo ${version}`;
  }
  return transport !== 'xhttp' || isSince(version, XHTTP_SINCE)
    ? null
    : `xhttp is not carried by mihomo ${version}, but by 1.19.22 and later`;
}

function pinsOf(node: ProxyNode): string | undefined {
  if ('tls' in node) return node.tls?.fingerprint;
  const pins = 'options' in node ? node.options['fingerprint'] : undefined;
  return typeof pins === 'string' ? pins : undefined;
}

function isSince(version: string, first: readonly number[]): boolean {
  const [, ...parts] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  if (parts.length === 0) return true;
  const numbers = parts.map(Number);
  const differs = numbers.findIndex((number, at) => number !== first[at]);
  return differs < 0 || (numbers[differs] ?? 0) > (first[differs] ?? 0);
}
