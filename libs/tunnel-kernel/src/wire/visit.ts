import { protocolError } from '../errors.js';

/** First byte of a visit: what the visitor's program wants. */
const PURPOSES = { connection: 1, rendezvous: 2 } as const;
const SECRET_CHARACTERS = 43;
/** Purpose, tunnel, secret. */
export const VISIT_BYTES = 1 + 8 + SECRET_CHARACTERS;

/** First bytes of a visitor's program, inside TLS with the pinned key. */
export interface Visit {
  /** A connection to the target, or a direct path to the tunnel's agent: see `rendezvous.ts`. */
  purpose: keyof typeof PURPOSES;
  tunnelId: number;
  secret: string;
}

/**
 * The server's answer to a visit, one byte; after the first one the connection belongs to the visitor. `relay`: this
 * tunnel has no direct paths, and will not have any soon.
 */
const VISIT_ANSWERS = ['welcome', 'unauthorized', 'denied', 'overloaded', 'offline', 'relay'] as const;
export type VisitAnswer = (typeof VISIT_ANSWERS)[number];

export function encodeVisit({ purpose, tunnelId, secret }: Visit): Buffer {
  const visit = Buffer.alloc(VISIT_BYTES);
  visit.writeUInt8(PURPOSES[purpose], 0);
  visit.writeBigUInt64BE(BigInt(tunnelId), 1);
  visit.write(secret, 9, 'latin1');
  return visit;
}

/** @throws TunnelError `protocol`. */
export function decodeVisit(visit: Buffer): Visit {
  const tunnelId = Number(visit.length === VISIT_BYTES ? visit.readBigUInt64BE(1) : -1);
  const purpose = (['connection', 'rendezvous'] as const).find((known) => PURPOSES[known] === visit[0]);
  if (!purpose || !Number.isSafeInteger(tunnelId) || tunnelId < 0) throw protocolError('not a visit');
  return { purpose, tunnelId, secret: visit.toString('latin1', 9) };
}

export function encodeVisitAnswer(answer: VisitAnswer): Buffer {
  return Buffer.of(VISIT_ANSWERS.indexOf(answer));
}

/** @throws TunnelError `protocol` for an unknown answer. */
export function decodeVisitAnswer(byte: number): VisitAnswer {
  const answer = VISIT_ANSWERS[byte];
  if (!answer) throw protocolError('an unknown answer to a visit');
  return answer;
}
