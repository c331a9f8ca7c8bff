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
  /** Bounds the whole measurement, every stage included. */
  timeoutMs: number;
  /** Report the second request on the open connection instead of the first. */
  unified?: boolean;
  signal?: AbortSignal;
}

/** Milliseconds each stage took; null where there was none or it was not reached. */
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

/** What an address-telling service saw of a node. */
export interface ExitAddress {
  ip: string;
  /** As that service says; null when it does not. */
  country: string | null;
}

/** Measures nodes without a kernel: dials each by itself, in whatever process it runs. */
export interface NodeProber {
  /** Never rejects but for an aborted signal: a failure is a result. */
  probe(target: ProbeTarget, options: ProbeOptions): Promise<ProbeResult>;
  /** The address the world sees, by `GET url`: Cloudflare's trace lines, JSON with `ip`, or a bare address. @throws DialError. */
  exitAddress(target: ProbeTarget, options: Pick<ProbeOptions, 'url' | 'timeoutMs' | 'signal'>): Promise<ExitAddress>;
  close(): void;
}
