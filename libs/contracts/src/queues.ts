/** Queues and their payloads, declared once. Boot fails on a queue without a handler or with two. */

export interface SubscriptionRefreshPayload {
  subscriptionId: number;
  /** What asked for it: the scheduler, or a person waiting for the result. */
  trigger: 'schedule' | 'manual';
  /** Ask for the whole content even if it did not change, and believe it however much it shrank. */
  force?: boolean;
}

export interface RetentionPayload {
  /** Of a service that sweeps its tables at different intervals: which of them. */
  part?: string;
  /** Milliseconds since the epoch at which the sweep was asked for. */
  requestedAt: number;
}

export interface SpeedTestPayload {
  /** What asked for it: the schedule, or a person. */
  trigger: 'schedule' | 'manual';
  /** Absent: every enabled node that can be dialled. */
  nodeIds?: number[];
}

export interface CountryDetectionPayload {
  /** Absent: every node. */
  nodeIds?: number[];
}

export interface RuleSetRefreshPayload {
  ruleSetId: number;
  trigger: 'schedule' | 'manual';
  /** Ask for the whole content even if it did not change. */
  force?: boolean;
}

export interface GeoUpdatePayload {
  trigger: 'schedule' | 'manual';
  /** Ask for the whole files even if they did not change. */
  force?: boolean;
}

export interface FlowRollupPayload {
  /** Milliseconds since the epoch at which it was asked for. */
  requestedAt: number;
}

export interface CertificatesPayload {
  /** Absent: all whose time has come. */
  hostId?: number;
  /** `renewal-info`: the authority is asked when it wants the certificate renewed. Default: it is ordered, if it is time. */
  task?: 'order' | 'renewal-info';
  /** Milliseconds since the epoch at which it was asked for. */
  requestedAt: number;
}

export interface WebhookFanOutPayload {
  /** Milliseconds since the epoch at which it was asked for. */
  requestedAt: number;
}

export interface WebhookDeliveryPayload {
  deliveryId: number;
}

/** Payload type of each queue. */
export interface QueuePayloads {
  'subscription-refresh': SubscriptionRefreshPayload;
  'speed-test': SpeedTestPayload;
  'country-detection': CountryDetectionPayload;
  'rule-set-refresh': RuleSetRefreshPayload;
  'geo-update': GeoUpdatePayload;
  'flow-rollup': FlowRollupPayload;
  'webhook-fan-out': WebhookFanOutPayload;
  'webhook-delivery': WebhookDeliveryPayload;
  retention: RetentionPayload;
  certificates: CertificatesPayload;
}
export type QueueName = keyof QueuePayloads;
