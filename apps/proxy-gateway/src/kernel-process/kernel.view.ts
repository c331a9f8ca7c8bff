import type { KernelState, KernelStatusView } from '@gatehouse/contracts';
import type { KernelStatus } from '@gatehouse/proxy-kernel';
import { KernelUnavailableError } from './kernel-errors.js';
import type { KernelMember } from './kernel-member.js';

const SHOWN_LEFT_OUT = 100;

export interface KernelFacts {
  /** Null while no kernel answers. */
  live: KernelStatus | null;
  /** The version of this service, which is also that of the embedded kernel. */
  version: string;
  type: KernelStatusView['type'];
  /** Of all kernels together. */
  state: KernelState;
}

/** @param shown the kernel to describe; of several, one that has a problem. */
export function describeKernel(
  shown: Pick<KernelMember, 'process' | 'configurator' | 'name'> | null,
  { live, version, type, state }: KernelFacts,
): KernelStatusView {
  const { applied = null, lastApply = null, failure = null } = shown?.configurator ?? {};
  const leftOut = applied?.leftOut ?? [];
  const error = errorText(failure);
  return {
    type,
    version: live?.programVersion ?? version,
    state,
    pid: shown?.process.pid ?? null,
    restarts: shown?.process.restarts ?? 0,
    generation: live?.generation ?? 0,
    config_hash: live?.configHash ?? null,
    last_reload_at: lastApply?.at.toISOString() ?? null,
    last_reload_ms: lastApply?.result.durationMs ?? null,
    last_error: error !== null && shown?.name ? `${shown.name}: ${error}` : error,
    uptime_sec: live ? Math.max(0, Math.floor((Date.now() - live.startedAt) / 1000)) : null,
    rss_bytes: live?.rssBytes ?? null,
    listeners: live?.listeners ?? [],
    left_out: leftOut.slice(0, SHOWN_LEFT_OUT),
    left_out_total: leftOut.length,
  };
}

/** Errors of the database are not shown, since they may contain parts of a statement. */
function errorText(failure: unknown): string | null {
  if (failure === null) return null;
  if (failure instanceof KernelUnavailableError) return failure.message;
  if (failure instanceof Error && failure.name === 'KernelConfigError') return failure.message;
  return 'The configuration could not be read; see the log of the service for the reason.';
}
