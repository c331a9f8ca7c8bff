import type { JobStatusName } from './job.js';

/** Milliseconds of each stage; null for one that did not occur or was not reached. */
export interface NodeTestTimings {
  dns_ms: number | null;
  connect_ms: number | null;
  /** TLS with the node's server. */
  tls_ms: number | null;
  /** The node's own protocol, and TLS with the test server. */
  handshake_ms: number | null;
  /** From request to first byte of the answer. */
  ttfb_ms: number | null;
}

/** `POST /proxies/{id}/test`. */
export interface NodeTestResult {
  id: number;
  ok: boolean;
  delay_ms: number | null;
  http_status: number | null;
  test_url: string;
  timings: NodeTestTimings;
  /** From the last lookup. */
  exit_ip: string | null;
  country: string | null;
  error: { code: string; message: string } | null;
  tested_at: string;
}

/** A node's result in a test of many. */
export interface SpeedTestNodeResult {
  id: number;
  name: string;
  ok: boolean;
  delay_ms: number | null;
  error: { code: string; message: string } | null;
  tested_at: string;
}

/** The progress of a test of many nodes. */
export interface SpeedTestProgress {
  /** The number of nodes to test, without skipped ones. */
  total: number;
  tested: number;
  ok: number;
  failed: number;
  /** Enabled nodes that were skipped because this kernel does not dial them. */
  skipped: number;
  concurrency: number;
}

/**
 * A page of the results of a test of many nodes, the fastest first. Results that a later test replaced are not
 * included.
 */
export interface SpeedTestResults {
  results: SpeedTestNodeResult[];
  results_total: number;
  limit: number;
  offset: number;
}

/** `POST /proxies/test-all`. The numbers are null until a worker has started the job. */
export interface SpeedTestView extends SpeedTestResults {
  job_id: string;
  status: JobStatusName;
  total: number | null;
  tested: number;
  ok: number;
  failed: number;
  skipped: number;
  concurrency: number | null;
  started_at: string | null;
  finished_at: string | null;
  duration_ms: number | null;
}
