import { PlainFailure } from '../../bootstrap/failure.mjs';

/** Rejects when a person interrupts the run, so that the run can clean up. */
export function interruption(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => reject(new PlainFailure(`stopped by ${signal}`, { exitCode: 130 })));
    }
  });
}
