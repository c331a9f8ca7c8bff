import type { DialStage, Outbound } from '../interfaces/outbound.js';
import type { HealthBook } from './health-book.js';
import { isTransportFailure } from './transport-failure.js';

export type HopReports = Pick<HealthBook, 'flowFailed' | 'flowSucceeded' | 'flowEnded'>;

/** An outbound that carries another's connections: the flows do not know it, so its dials tell how it did. */
export function watchHop(outbound: Outbound, reports: HopReports): Outbound {
  const { tag, type, udp } = outbound;
  return {
    tag,
    type,
    udp,
    connect: async (target, context) => {
      const reached = new Set<DialStage>();
      const onStage = (stage: DialStage): void => {
        reached.add(stage);
        context.onStage?.(stage);
      };
      try {
        const stream = await outbound.connect(target, { ...context, onStage });
        reports.flowSucceeded(tag);
        return stream;
      } catch (error) {
        if (isTransportFailure({ error, type, reached })) reports.flowFailed(tag);
        else reports.flowEnded(tag);
        throw error;
      }
    },
  };
}
