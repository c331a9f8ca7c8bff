import { withClient } from '@gatehouse/persistence/server';
import type { ReplicaAnswer, ReplicaClient, ReplicaRequest } from './replica-client.js';
import type { ServiceName } from './replica-set.js';

/** One request that is done once, whatever happens to it. */
export interface Round {
  client: ReplicaClient;
  request: ReplicaRequest;
  /** How often it took effect. */
  effects: (answer: ReplicaAnswer) => Promise<number>;
  /** Whether a client may take an answer for the end of it. Default: a success. */
  isDone?: (answer: ReplicaAnswer) => boolean;
}

export interface SweptOperation {
  name: string;
  service: ServiceName;
  /** `id` is new in every round, and made of letters and digits. */
  prepare(id: string): Promise<Round>;
}

/** Without a key the repeat of a request that was carried out finds nothing. */
export const isGone = ({ status }: ReplicaAnswer): boolean => status === 200 || status === 204 || status === 404;

export async function countRows(databaseUrl: string, sql: string, values: unknown[]): Promise<number> {
  return await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ n: number }>(`SELECT count(*)::integer AS n FROM ${sql}`, values);
    return rows[0]?.n ?? 0;
  });
}
