import type { Socket } from 'node:net';

const BEAT_MS = 10_000;

/** What is needed of a connection of `pg`. */
interface BeatingClient {
  query(text: string): Promise<unknown>;
  /** Not declared by `pg`. */
  readonly connection: { readonly stream: Socket };
}

/**
 * A connection that only listens says nothing for hours, and one that no longer carries anything looks the same. This asks
 * once a beat, and breaks the connection when there is no answer before the next: its owner then connects again, and knows
 * that it may have missed something. Returns how to stop it.
 */
export function listenHeartbeat(client: object, beatMs = BEAT_MS): () => void {
  const beating = client as BeatingClient;
  let waiting = false;
  const giveUp = (): void => {
    clearInterval(timer);
    beating.connection.stream.destroy(new Error('Connection terminated: the database does not answer'));
  };
  const timer = setInterval(() => {
    if (waiting) return giveUp();
    waiting = true;
    beating.query('SELECT 1').then(() => (waiting = false), giveUp);
  }, beatMs);
  timer.unref();
  return () => clearInterval(timer);
}
