import { describeNode } from '../../nodes/describe-node.js';
import type { KernelConfig } from '@gatehouse/proxy-kernel';

const TAKING = new Set(['DIRECT', 'REJECT', 'REJECT-DROP']);

/**
 * Tells targets that take every flow: they exist, carry UDP and never hand on to the next rule, whatever their groups
 * choose.
 * @param config null while it is not known: of nodes and groups nothing is believed then.
 */
export function targetsThatTake(config: KernelConfig | null): (target: string) => boolean {
  const known = new Map<string, boolean>();
  const members = new Map(config?.groups.map((group) => [group.name, group.members]));
  for (const { tag, node } of config?.outbounds ?? []) known.set(tag, describeNode(node).udp);
  const takes = (target: string): boolean => {
    const answer = known.get(target);
    if (answer !== undefined) return answer;
    // A group that contains itself is refused elsewhere; here it takes nothing.
    known.set(target, false);
    const all = members.get(target);
    const result = TAKING.has(target) || (all !== undefined && all.every(takes));
    known.set(target, result);
    return result;
  };
  return takes;
}
