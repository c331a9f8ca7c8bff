import type { KernelStatusView } from '@gatehouse/contracts';
import type { KernelStatus } from '@gatehouse/proxy-kernel';
import type { KernelConfigurator } from './kernel-configurator.js';
import { KernelUnavailableError } from './kernel-errors.js';
import type { KernelProcess } from './kernel-process.js';

const SHOWN_LEFT_OUT = 100;

export interface KernelFacts {
  /** Null while the kernel does not answer. */
  live: KernelStatus | null;
  /** The version of this service, which is also that of the embedded kernel. */
  version: string;
  type: KernelStatusView['type'];
}

export function describeKernel(
  process: Pick<KernelProcess, 'pid' | 'restarts'>,
  configurator: Pick<KernelConfigurator, 'state' | 'applied' | 'lastApply' | 'failure'>,
  { live, version, type }: KernelFacts,
): KernelStatusView {
  const { applied, lastApply, failure, state } = configurator;
  const leftOut = applied?.leftOut ?? [];
  return {
    type,
    version: live?.programVersion ?? version,
    state,
    pid: process.pid,
    restarts: process.restarts,
    generation: live?.generation ?? 0,
    config_hash: live?.configHash ?? null,
    last_reload_at: lastApply?.at.toISOString() ?? null,
    last_reload_ms: lastApply?.result.durationMs ?? null,
    last_error: errorText(failure),
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
