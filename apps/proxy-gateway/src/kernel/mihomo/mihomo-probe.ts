import type { KernelProbe, ProbeResult, ProbeTimings } from '@gatehouse/proxy-kernel';
import { MihomoRefusal, type MihomoApi } from './mihomo-api.js';
import { mihomoBasics, toProxy } from './mihomo-config.js';

/** mihomo reports no stages. */
const NO_TIMINGS: ProbeTimings = { dnsMs: null, connectMs: null, tlsMs: null, handshakeMs: null, ttfbMs: null };

/** A second mihomo, for a node that the running one does not have. */
export interface OtherMihomo {
  readonly api: MihomoApi;
  readonly socket: string;
  start(): Promise<unknown>;
  stop(): Promise<void>;
}

/** Measures a node of mihomo's configuration. A failure is a result. */
export async function probeLoaded(api: MihomoApi, probe: KernelProbe, now: () => number): Promise<ProbeResult> {
  const base = { httpStatus: null, timings: NO_TIMINGS };
  try {
    const delayMs = await api.delay(probe.tag, probe);
    return { ...base, ok: true, delayMs, error: null, testedAt: now() };
  } catch (error) {
    const late = error instanceof MihomoRefusal && error.status === 504;
    const message = error instanceof Error ? error.message : String(error);
    const reason = late ? `no answer within ${probe.timeoutMs} ms` : `mihomo: ${message}`;
    return {
      ...base,
      ok: false,
      delayMs: null,
      error: { code: late ? 'timeout' : 'other', message: reason },
      testedAt: now(),
    };
  }
}

/** Measures a node that is disabled, in a mihomo of its own that ends afterwards. */
export async function probeAlone(mihomo: OtherMihomo, probe: KernelProbe, now: () => number): Promise<ProbeResult> {
  try {
    await mihomo.start();
    const hops = [...(probe.via ?? []), probe.node].map((node, at, all) => ({
      tag: at === all.length - 1 ? probe.tag : `hop ${at}`,
      node,
      ...(at > 0 && { dialer: `hop ${at - 1}` }),
    }));
    const proxies = hops.map((hop) => toProxy(hop));
    await mihomo.api.load({ ...mihomoBasics(mihomo.socket), proxies, rules: ['MATCH,REJECT'] });
    return await probeLoaded(mihomo.api, probe, now);
  } finally {
    await mihomo.stop();
  }
}
