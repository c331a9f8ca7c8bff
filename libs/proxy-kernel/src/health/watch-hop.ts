import type { DialContext, DialStage, Outbound, PacketConnection } from '../interfaces/outbound.js';
import type { HealthTracker } from './health-tracker.js';
import { isTransportFailure } from './transport-failure.js';

export type HopReports = Pick<HealthTracker, 'flowFailed' | 'flowSucceeded' | 'flowEnded'>;

/** Wraps an outbound that carries another's connections: flows do not report for it, so its dials do. */
export function watchHop(outbound: Outbound, reports: HopReports): Outbound {
  const { tag, type, udp } = outbound;
  const watched = async <T>(context: DialContext, dial: (context: DialContext) => Promise<T>): Promise<T> => {
    const reached = new Set<DialStage>();
    const onStage = (stage: DialStage): void => {
      reached.add(stage);
      context.onStage?.(stage);
    };
    try {
      return await dial({ ...context, onStage });
    } catch (error) {
      if (isTransportFailure({ error, type, reached })) reports.flowFailed(tag);
      else reports.flowEnded(tag);
      throw error;
    }
  };
  const watchedOutbound: Outbound = {
    tag,
    type,
    udp,
    connect: async (target, context) => {
      const stream = await watched(context, (own) => outbound.connect(target, own));
      reports.flowSucceeded(tag);
      return stream;
    },
  };
  const openPackets = outbound.openPackets?.bind(outbound);
  if (!openPackets) return watchedOutbound;
  return {
    ...watchedOutbound,
    openPackets: async (context) => watchAnswers(await watched(context, openPackets), tag, reports),
  };
}

/** Most associations open without an answer from the node, so only a datagram that comes back proves that it works. */
function watchAnswers(packets: PacketConnection, tag: string, reports: HopReports): PacketConnection {
  let answered = false;
  packets.onMessage(() => {
    if (!answered) reports.flowSucceeded(tag);
    answered = true;
  });
  packets.onClose(() => {
    if (!answered) reports.flowEnded(tag);
  });
  return packets;
}
