import { describeNode } from '../../nodes/describe-node.js';
import type { KernelConfig } from '@gatehouse/proxy-kernel';

const TAKING = new Set(['DIRECT', 'REJECT', 'REJECT-DROP']);

/**
 * Returns a predicate for targets that accept every flow: they exist, carry UDP and never pass a flow to the next rule,
 * whatever their groups choose.
 * @param config null while unknown: no node or group counts then.
 */
export function targetsThatTake(config: KernelConfig | null): (target: string) => boolean {
  const known = new Map<string, boolean>();
  const members = new Map(config?.groups.map((group) => [group.name, group.members]));
  for (const { tag, node } of config?.outbounds ?? []) known.set(tag, describeNode(node).udp);
  const takes = (target: string): boolean => {
    const answer = known.get(target);
    if (answer !== undefined) return answer;
    // Ends the recursion for a group that contains itself, which is refused elsewhere.
    known.set(target, false);
    const all = members.get(target);
    const result = TAKING.has(target) || (all !== undefined && all.every(takes));
    known.set(target, result);
    return result;
  };
  return takes;
}
