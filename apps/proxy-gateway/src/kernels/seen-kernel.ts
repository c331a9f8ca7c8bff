import type { KernelFigures, KernelIdentity } from '../common/kernel-figures.js';
import type { KernelMember } from '../kernel-process/kernel-member.js';

/** A hanging kernel must not hold up the list of the others. */
const FIGURES_MS = 2_000;

/** A kernel that this service is connected to. */
export interface SeenKernel {
  member: KernelMember;
  /** Null for a kernel of this service, and for one of an older version. */
  identity: KernelIdentity | null;
  /** Null if it did not answer, or is of an older version. */
  figures: KernelFigures | null;
}

export async function readKernels(members: readonly KernelMember[]): Promise<SeenKernel[]> {
  const connected = members.filter(({ running }) => running);
  return Promise.all(
    connected.map(async (member) => {
      const figures = await member.request('figures', null, FIGURES_MS).catch(() => undefined);
      return { member, identity: wholeIdentity(member), figures: figures ?? null };
    }),
  );
}

export function stateOf({ draining, listeners }: KernelFigures): 'serving' | 'draining' | 'waiting' {
  if (draining) return 'draining';
  return listeners.some(({ state }) => state === 'listening') ? 'serving' : 'waiting';
}

function wholeIdentity({ identity }: KernelMember): KernelIdentity | null {
  const { id, name, version, publicHost = null, startedAt } = identity ?? {};
  if (id === undefined || name === undefined || version === undefined || startedAt === undefined) return null;
  return { id, name, version, publicHost, startedAt };
}
