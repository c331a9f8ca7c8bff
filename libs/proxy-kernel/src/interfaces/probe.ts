import type { ProxyNode } from '@gatehouse/contracts';

/** One node to measure. */
export interface ProbeTarget {
  node: ProxyNode;
  /** Nodes to dial through, the first hop first. */
  via?: readonly ProxyNode[];
}

export interface ProbeOptions {
  /** http or https. */
  url: string;
  /** Status codes and ranges that count as alive: `204`, `200/204`, `200-399`. */
  expectedStatus: string;
  /** Limits the whole measurement with all of its stages. */
  timeoutMs: number;
  /** Report the second request on the open connection instead of the first. */
  unified?: boolean;
  signal?: AbortSignal;
}

/** Milliseconds of each stage; null for one that did not occur or was not reached. */
export interface ProbeTimings {
  dnsMs: number | null;
  connectMs: number | null;
  /** TLS with the node's server. */
  tlsMs: number | null;
  /** The node's own protocol, and TLS with the test server. */
  handshakeMs: number | null;
  /** From request to first byte of the answer. */
  ttfbMs: number | null;
}

export interface ProbeResult {
  ok: boolean;
  delayMs: number | null;
  httpStatus: number | null;
  timings: ProbeTimings;
  error: { code: string; message: string } | null;
  /** Milliseconds since the epoch. */
  testedAt: number;
}

/** What a service for exit addresses saw. */
export interface ExitAddress {
  ip: string;
  /** As reported by that service; null if it does not report one. */
  country: string | null;
}

/** Measures nodes without a kernel, by dialling them in its own process. */
export interface NodeProber {
  /** Rejects only for an aborted signal; a failure is a result. */
  probe(target: ProbeTarget, options: ProbeOptions): Promise<ProbeResult>;
  /**
   * The address that destinations see, by `GET url`: Cloudflare's trace lines, JSON with `ip`, or a bare address.
   * @throws DialError.
   */
  exitAddress(target: ProbeTarget, options: Pick<ProbeOptions, 'url' | 'timeoutMs' | 'signal'>): Promise<ExitAddress>;
  close(): void;
}
