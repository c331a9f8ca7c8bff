import { constants } from 'node:os';
import { localized } from '../../bootstrap/language.mjs';

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
// One Ctrl-C can arrive several times: from the terminal, from npm, and from the launcher.
const REPEATED_WITHIN_MS = 1_000;

export interface StopRequest {
  /** Why, and with which exit code to end. */
  received: Promise<{ reason: string; exitCode: number }>;
  /** Resolves when a person insists. */
  repeated: Promise<void>;
}

/** Listens for the signals that end the platform, and for the loss of the launcher that stands in front of it. */
export function watchForStop(): StopRequest {
  let stop: (why: { reason: string; exitCode: number }) => void = () => undefined;
  let insist: () => void = () => undefined;
  const received = new Promise<{ reason: string; exitCode: number }>((resolve) => (stop = resolve));
  const repeated = new Promise<void>((resolve) => (insist = resolve));
  let firstAt: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (firstAt !== undefined && Date.now() - firstAt > REPEATED_WITHIN_MS) insist();
      firstAt ??= Date.now();
      // Ctrl-C is the ordinary way to end `npm start`: code 0, so that npm does not report a failure.
      stop({ reason: signal, exitCode: signal === 'SIGINT' ? 0 : 128 + constants.signals[signal] });
    });
  }
  process.on('disconnect', () => stop({ reason: localized('the launcher is gone', '启动进程已退出'), exitCode: 1 }));
  return { received, repeated };
}
