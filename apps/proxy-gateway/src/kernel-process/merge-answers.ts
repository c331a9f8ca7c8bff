import type { ConnectionSnapshot, KernelStatus } from '@gatehouse/proxy-kernel';
import type { GroupInUse, TagUsage } from '../common/kernel-ipc.js';

/** An open connection, with the name of its kernel; null or absent while there is only one kernel. */
export type KernelConnection = ConnectionSnapshot & { kernel?: string | null };

export function mergeConnections(
  parts: readonly { from: { name: string | null }; answer: readonly ConnectionSnapshot[] }[],
): KernelConnection[] {
  return parts.flatMap(({ from: { name }, answer }) =>
    name === null ? answer : answer.map((connection) => ({ ...connection, kernel: name })),
  );
}

/** Counts are added up; the rest is that of the first kernel, and listeners that look the same appear once. */
export function mergeStatus(first: KernelStatus, others: readonly KernelStatus[]): KernelStatus {
  if (others.length === 0) return first;
  const all = [first, ...others];
  const sum = (of: (status: KernelStatus) => number): number => all.reduce((total, status) => total + of(status), 0);
  const listeners = new Map(all.flatMap((status) => status.listeners).map((one) => [JSON.stringify(one), one]));
  return {
    ...first,
    startedAt: Math.min(...all.map(({ startedAt }) => startedAt)),
    listeners: [...listeners.values()],
    activeConnections: sum((status) => status.activeConnections),
    openedTotal: sum((status) => status.openedTotal),
    failedTotal: sum((status) => status.failedTotal),
    uploadTotal: sum((status) => status.uploadTotal),
    downloadTotal: sum((status) => status.downloadTotal),
    rssBytes: sum((status) => status.rssBytes),
    flowFailuresTotal: sum((status) => status.flowFailuresTotal),
  };
}

/**
 * The state of each group in most kernels. They decide by the same measurements, but each by the success of its own
 * connections.
 */
export function mergeGroups(answers: readonly (readonly GroupInUse[])[]): GroupInUse[] {
  const states = Map.groupBy(answers.flat(), ({ name }) => name);
  return [...states.values()].flatMap((ofGroup) => mostCommon(ofGroup) ?? []);
}

function mostCommon(states: readonly GroupInUse[]): GroupInUse | undefined {
  const alike = Map.groupBy(states, ({ now, fixed }) => JSON.stringify([now, fixed]));
  return [...alike.values()].reduce<readonly GroupInUse[]>(
    (most, one) => (one.length > most.length ? one : most),
    [],
  )[0];
}

export function mergeUsage(answers: readonly Readonly<Record<string, TagUsage>>[]): Record<string, TagUsage> {
  const sums = new Map<string, TagUsage>();
  for (const [tag, { connections, upload, download }] of answers.flatMap((usage) => Object.entries(usage))) {
    const sum = sums.get(tag) ?? { connections: 0, upload: 0, download: 0 };
    sums.set(tag, sum);
    sum.connections += connections;
    sum.upload += upload;
    sum.download += download;
  }
  return Object.fromEntries(sums);
}
