import { TunnelError, TunnelVisitor } from '@gatehouse/tunnel-kernel';
import { adviceFor, EXIT, exitCodeOf } from './exit-codes.js';
import type { Reporter } from './reporter.js';
import type { VisitSettings } from './visit-settings.js';

export interface RunningVisitor {
  /** The exit code, when it ends. */
  ended: Promise<number>;
  stop: () => void;
}

/** Opens the local port that leads to the tunnel. */
export function runVisitor({ server, key, listen, p2p }: VisitSettings, reporter: Reporter): RunningVisitor {
  const ended = Promise.withResolvers<number>();
  const visitor = new TunnelVisitor({ server, key, logger: reporter, p2p });
  const stop = (code: number): void => {
    visitor.stop();
    ended.resolve(code);
  };
  start(visitor, listen, reporter).catch((error: unknown) => {
    const isFinal = error instanceof TunnelError;
    reporter.error((error as Error).message);
    if (isFinal && adviceFor(error.code)) reporter.info(adviceFor(error.code));
    stop(isFinal ? exitCodeOf(error.code) : EXIT.usage);
  });
  return { ended: ended.promise, stop: () => stop(EXIT.stopped) };
}

/** What another key or another address would not change may pass: the agent may come, the client be switched on. */
const FINAL = new Set(['unauthorized', 'server_key', 'protocol']);

async function start(visitor: TunnelVisitor, listen: VisitSettings['listen'], reporter: Reporter): Promise<void> {
  const port = await visitor.listen(listen);
  try {
    await visitor.probe();
  } catch (error) {
    if (!(error instanceof TunnelError) || FINAL.has(error.code)) throw error;
    reporter.warn(`the tunnel is not there yet: ${error.message}`);
  }
  reporter.info(`${listen.host}:${port} leads to the tunnel`);
}
