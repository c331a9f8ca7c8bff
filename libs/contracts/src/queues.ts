/** Queues and their payloads, declared once. Boot fails on a queue without a handler or with two. */

export interface SubscriptionRefreshPayload {
  subscriptionId: number;
  /** Who requested it: the scheduler, or a person waiting for the result. */
  trigger: 'schedule' | 'manual';
  /** Fetch the whole content even if it did not change, and accept it however much smaller it has become. */
  force?: boolean;
}

export interface RetentionPayload {
  /** Which job to do, in a service whose jobs run at different intervals. */
  part?: string;
  /** When the run was requested, in milliseconds since the epoch. */
  requestedAt: number;
}

export interface SpeedTestPayload {
  /** Who requested it: the schedule, or a person. */
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
  /** Fetch the whole content even if it did not change. */
  force?: boolean;
}

export interface GeoUpdatePayload {
  trigger: 'schedule' | 'manual';
  /** Fetch the whole files even if they did not change. */
  force?: boolean;
}

export interface FlowRollupPayload {
  /** When it was requested, in milliseconds since the epoch. */
  requestedAt: number;
}

export interface AddressListsPayload {
  /** Absent: all lists that are due. */
  listId?: number;
  /** When it was requested, in milliseconds since the epoch. */
  requestedAt: number;
}

export interface CertificatesPayload {
  /** Absent: all certificates that are due. */
  hostId?: number;
  /** `renewal-info`: ask the authority when to renew the certificate. Default: order it if it is due. */
  task?: 'order' | 'renewal-info';
  /** When it was requested, in milliseconds since the epoch. */
  requestedAt: number;
}

export interface WebhookFanOutPayload {
  /** When it was requested, in milliseconds since the epoch. */
  requestedAt: number;
}

export interface WebhookDeliveryPayload {
  deliveryId: number;
}

/** One mail is sent; new passwords are offered to whom an account belongs; or whatever is due is done. */
export type MailPayload =
  | { task: 'send'; mailId: number }
  | { task: 'reset'; account: string; language: 'en' | 'zh-CN' }
  | { task: 'sweep'; requestedAt: number };

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
  'address-lists': AddressListsPayload;
  mail: MailPayload;
}
export type QueueName = keyof QueuePayloads;
