import type { EntityManager } from 'typeorm';

/** One event for one webhook. */
export interface NewDelivery {
  readonly webhookId: number;
  /** With the webhook it names the delivery: a second one of the same event is not made. */
  readonly eventId: number;
  readonly type: string;
  /** Of every attempt. */
  readonly body: string;
}

export interface TakenEvents {
  readonly deliveries: readonly NewDelivery[];
  /** More events may wait. */
  readonly more: boolean;
}

/** The events of a service. */
export abstract class WebhookSource {
  /**
   * Takes the next events, some hundreds at most, and says who gets them. In the caller's transaction: if it does not
   * commit, the same events are taken again.
   */
  abstract take(tx: EntityManager): Promise<TakenEvents>;
}

/** The form that Standard Webhooks proposes. */
export function messageBody(type: string, time: Date, data: object): string {
  return JSON.stringify({ type, timestamp: time.toISOString(), data });
}
