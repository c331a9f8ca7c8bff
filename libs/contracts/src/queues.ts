/** Queues and their payloads, declared once. Boot fails on a queue without a handler or with two. */

export interface SubscriptionRefreshPayload {
  subscriptionId: number;
  /** What asked for it: the scheduler, or a person waiting for the result. */
  trigger: 'schedule' | 'manual';
  /** Ask for the whole content even if it did not change, and believe it however much it shrank. */
  force?: boolean;
}

export interface RetentionPayload {
  /** Milliseconds since the epoch at which the sweep was asked for. */
  requestedAt: number;
}

/** Payload type of each queue. */
export interface QueuePayloads {
  'subscription-refresh': SubscriptionRefreshPayload;
  retention: RetentionPayload;
}
export type QueueName = keyof QueuePayloads;
