import { TunnelError, TunnelVisitor } from '@gatehouse/tunnel-kernel';
import { adviceFor, EXIT, exitCodeOf } from './exit-codes.js';
import type { AgentWords } from './messages/index.js';
import { nameOfProxy } from './proxy/proxy-address.js';
import { proxiedDialer } from './proxy/proxy-dialer.js';
import type { Reporter } from './reporter.js';
import type { VisitSettings } from './options/visit-settings.js';

/**
 * Errors that only another key or address would solve. Others may pass: the agent may connect, the gateway may start.
 */
const FINAL: ReadonlySet<string> = new Set(['unauthorized', 'server_key']);

export interface RunningVisitor {
  /** Resolves to the exit code. */
  ended: Promise<number>;
  stop: () => void;
}

/** Opens the local port that leads to the tunnel. */
export function runVisitor(settings: VisitSettings, reporter: Reporter, words: AgentWords): RunningVisitor {
  const { server, transport, websocket, key, listen, proxyFor } = settings;
  const proxy = proxyFor(server);
  if (proxy) reporter.proxied(nameOfProxy(proxy));
  // A direct path would go around the proxy.
  const p2p = settings.p2p && !proxy;
  const ended = Promise.withResolvers<number>();
  const way = { server, transport, ...(websocket && { websocket }) };
  const visitor = new TunnelVisitor({ ...way, key, logger: reporter, dialer: proxiedDialer(proxyFor), p2p });
  const stop = (code: number): void => {
    visitor.stop();
    ended.resolve(code);
  };
  start(visitor, listen, reporter, words).catch((error: unknown) => {
    reporter.error((error as Error).message);
    advise(error, reporter, words);
    stop(error instanceof TunnelError ? exitCodeOf(error.code) : EXIT.usage);
  });
  return { ended: ended.promise, stop: () => stop(EXIT.stopped) };
}

/** @throws Error if the port cannot be opened, TunnelError for a wrong key or gateway. */
async function start(
  visitor: TunnelVisitor,
  listen: VisitSettings['listen'],
  reporter: Reporter,
  words: AgentWords,
): Promise<void> {
  const port = await visitor.listen(listen);
  try {
    await visitor.probe();
  } catch (error) {
    if (!(error instanceof TunnelError) || FINAL.has(error.code)) throw error;
    reporter.warn(`the tunnel is not there yet: ${error.message}`);
    advise(error, reporter, words);
  }
  reporter.info(`${listen.host}:${port} leads to the tunnel`);
}

function advise(error: unknown, reporter: Reporter, words: AgentWords): void {
  const advice = error instanceof TunnelError ? adviceFor(error.code, words) : '';
  if (advice) reporter.info(advice);
}
