import { createSecureContext, type SecureContext } from 'node:tls';
import {
  DialError,
  KernelConfigError,
  type ExitAddress,
  type NodeProber,
  type Outbound,
  type ProbeOptions,
  type ProbeResult,
  type ProbeTarget,
  type Resolver,
} from './interfaces/index.js';
import {
  Deadline,
  ProbeConnection,
  StageClock,
  hostOf,
  parseExitAddress,
  parseExpectedStatus,
  portOf,
  readBody,
  roundMs,
  type ProbeAnswer,
} from './probe/index.js';
import { createOutbound } from './registry.js';
import { createChainDialer, fixedHop } from './transport/chain-dialer.js';
import { toDialError } from './transport/dial-error.js';
import { createDirectDialer, type ServerDialer } from './transport/server-dialer.js';

/** Answers of services for exit addresses are short. */
const MAX_BODY_BYTES = 16 * 1024;
/** The most that is read of a test page in order to reuse its connection. */
const MAX_DRAIN_BYTES = 64 * 1024;
/** Statuses of a server that does not support HEAD (RFC 9110 15.5.6, 15.6.2). */
const HEAD_REFUSED = new Set([405, 501]);

export interface NodeProberOptions {
  resolver: Resolver;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Creates a prober that measures nodes without a kernel. */
export function createNodeProber(options: NodeProberOptions): NodeProber {
  return new DialingProber(options);
}

interface Attempt {
  outbound: Outbound;
  url: URL;
  deadline: Deadline;
}

interface Measured {
  status: number;
  delayMs: number;
  clock: StageClock;
}

class DialingProber implements NodeProber {
  private readonly options: NodeProberOptions;
  private readonly closing = new AbortController();
  private readonly direct: ServerDialer;
  /** Created once, since it contains the certificate authorities. */
  private tls: SecureContext | null = null;

  constructor(options: NodeProberOptions) {
    this.options = options;
    this.direct = createDirectDialer(options.resolver);
  }

  async probe(target: ProbeTarget, options: ProbeOptions): Promise<ProbeResult> {
    options.signal?.throwIfAborted();
    const deadline = this.deadline(options);
    const clocks: StageClock[] = [];
    const made: Outbound[] = [];
    try {
      const expected = parseExpectedStatus(options.expectedStatus);
      const attempt = { outbound: this.outboundOf(target, made), url: testUrl(options.url), deadline };
      const measured = await this.measure(attempt, options.unified ?? false, clocks);
      return this.result(measured, expected(measured.status), options.expectedStatus);
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      return this.failure(error, clocks.at(-1) ?? new StageClock());
    } finally {
      deadline.clear();
      for (const outbound of made) outbound.close?.();
    }
  }

  async exitAddress(
    target: ProbeTarget,
    options: Pick<ProbeOptions, 'url' | 'timeoutMs' | 'signal'>,
  ): Promise<ExitAddress> {
    options.signal?.throwIfAborted();
    const deadline = this.deadline(options);
    const made: Outbound[] = [];
    try {
      const attempt = { outbound: this.outboundOf(target, made), url: testUrl(options.url), deadline };
      return await this.connected(attempt, new StageClock(), async (connection) => {
        const { status, message } = await connection.request('GET');
        if (status !== 200) throw new DialError('relay', 'protocol_error', `the service answered ${status}`);
        return parseExitAddress((await readBody(message, MAX_BODY_BYTES)).toString());
      });
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      throw toProbeError(error);
    } finally {
      deadline.clear();
      for (const outbound of made) outbound.close?.();
    }
  }

  close(): void {
    this.closing.abort(new DialError('dial', 'other', 'the prober was closed'));
  }

  private async measure(attempt: Attempt, unified: boolean, clocks: StageClock[]): Promise<Measured> {
    const first = await this.attempt(attempt, 'HEAD', unified, clocks);
    return HEAD_REFUSED.has(first.status) ? this.attempt(attempt, 'GET', unified, clocks) : first;
  }

  private attempt(attempt: Attempt, method: 'HEAD' | 'GET', unified: boolean, clocks: StageClock[]): Promise<Measured> {
    const clock = new StageClock();
    clocks.push(clock);
    return this.connected(attempt, clock, async (connection) => {
      const answer = await connection.request(method);
      clock.mark('ttfb');
      const first = { status: answer.status, delayMs: clock.totalMs, clock };
      if (!unified || HEAD_REFUSED.has(answer.status)) return first;
      return { ...first, delayMs: (await secondRequest(connection, answer, method, clock)) ?? first.delayMs };
    });
  }

  /** Dials, runs the work and always destroys the connection. */
  private async connected<T>(
    { outbound, url, deadline }: Attempt,
    clock: StageClock,
    work: (connection: ProbeConnection) => Promise<T>,
  ): Promise<T> {
    const { signal } = deadline;
    const target = { host: hostOf(url), port: portOf(url) };
    const dialling = outbound.connect(target, {
      signal,
      onStage: (stage) => clock.mark(stage === 'greeting' ? 'handshake' : stage),
    });
    const stream = await deadline.within(dialling, (late) => late.destroy());
    const onAbort = (): void => void stream.destroy();
    signal.addEventListener('abort', onAbort, { once: true });
    let connection: ProbeConnection | null = null;
    try {
      connection = await deadline.within(ProbeConnection.open(url, stream, this.secureContext()));
      clock.mark('handshake');
      return await deadline.within(work(connection));
    } finally {
      signal.removeEventListener('abort', onAbort);
      connection?.destroy();
      stream.destroy();
    }
  }

  private deadline({ timeoutMs, signal }: Pick<ProbeOptions, 'timeoutMs' | 'signal'>): Deadline {
    const { signal: closing } = this.closing;
    return new Deadline(timeoutMs, signal ? AbortSignal.any([signal, closing]) : closing);
  }

  /** @throws KernelConfigError for a node that cannot be dialled. */
  /** `made` receives every created outbound, because some keep connections open for a next flow, which never comes. */
  private outboundOf({ node, via = [] }: ProbeTarget, made: Outbound[]): Outbound {
    let dialer = this.direct;
    for (const [index, hop] of via.entries()) {
      const outbound = createOutbound(hop.name, hop, dialer, `via[${index}]`);
      made.push(outbound);
      dialer = createChainDialer(fixedHop(outbound));
    }
    const last = createOutbound(node.name, node, dialer, 'node');
    made.push(last);
    return last;
  }

  private secureContext(): SecureContext {
    this.tls ??= createSecureContext();
    return this.tls;
  }

  private result({ status, delayMs, clock }: Measured, ok: boolean, expected: string): ProbeResult {
    return {
      ok,
      delayMs: ok ? Math.max(1, roundMs(delayMs) ?? 1) : null,
      httpStatus: status,
      timings: clock.timings(),
      error: ok ? null : { code: 'unexpected_status', message: `answered ${status}, expected ${expected}` },
      testedAt: this.options.now(),
    };
  }

  private failure(error: unknown, clock: StageClock): ProbeResult {
    return {
      ok: false,
      delayMs: null,
      httpStatus: null,
      timings: clock.timings(),
      error: describe(error),
      testedAt: this.options.now(),
    };
  }
}

/** Milliseconds of a second request on the open connection; null if the connection cannot carry one. */
async function secondRequest(
  connection: ProbeConnection,
  { message, reusable }: ProbeAnswer,
  method: 'HEAD' | 'GET',
  clock: StageClock,
): Promise<number | null> {
  if (!reusable) return null;
  try {
    await readBody(message, MAX_DRAIN_BYTES);
    const began = performance.now();
    const second = await connection.request(method);
    const took = performance.now() - began;
    second.message.resume();
    clock.replace('ttfb', took);
    return took;
  } catch {
    // The first answer came, so the node works; its delay is that of the first request.
    return null;
  }
}

/** @throws KernelConfigError for anything except an http or https URL. */
function testUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new KernelConfigError('url', 'it must be an http or https address');
  }
  return url;
}

function describe(error: unknown): { code: string; message: string } {
  if (error instanceof KernelConfigError || error instanceof RangeError) {
    return { code: error instanceof RangeError ? 'invalid_argument' : 'unsupported', message: error.message };
  }
  const { kind, message } = toProbeError(error);
  return { code: kind, message };
}

function toProbeError(error: unknown): DialError {
  if (error instanceof KernelConfigError) return new DialError('route', 'other', error.message, { cause: error });
  const dialError = toDialError(error, 'relay');
  // Codes of `node:http` for an answer that is not HTTP.
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (dialError.kind !== 'other' || !code?.startsWith('HPE_')) return dialError;
  return new DialError('relay', 'protocol_error', 'the test server did not answer with HTTP', {
    cause: error,
  });
}
