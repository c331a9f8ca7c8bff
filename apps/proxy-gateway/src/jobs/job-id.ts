import type { QueueName } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';

/** Queues whose jobs the API shows. Housekeeping is not among them. */
const SHOWN: readonly QueueName[] = [
  'speed-test',
  'country-detection',
  'subscription-refresh',
  'rule-set-refresh',
  'geo-update',
];

export interface JobReference {
  queue: QueueName;
  id: string;
}

export function toJobId({ queue, id }: JobReference): string {
  return `${queue}.${id}`;
}

/** Null for an id that no job of these queues can have. */
export function parseJobId(text: string, queues: readonly QueueName[]): JobReference | null {
  const queue = SHOWN.find((name) => queues.includes(name) && text.startsWith(`${name}.`));
  if (queue === undefined) return null;
  const id = text.slice(queue.length + 1);
  return /^[\w:.-]{1,150}$/.test(id) ? { queue, id } : null;
}

export function jobNotFound(text: string): AppError {
  return new AppError('NOT_FOUND', `There is no job ${JSON.stringify(text.slice(0, 100))}.`);
}
