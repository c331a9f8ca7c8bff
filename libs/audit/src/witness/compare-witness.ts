import type { AuditBreak, AuditWitnessView } from '@gatehouse/contracts';
import type { ChainHead } from '../chain/audit-chain.js';
import type { WitnessLine } from './witness-line.js';

export interface WitnessedState {
  readonly head: ChainHead;
  /** Hashes of the rows that the witness names, if they exist. */
  readonly hashes: ReadonlyMap<number, string>;
  /** When a backup was last restored, in milliseconds; null: never. */
  readonly restoredAt: number | null;
}

export interface WitnessFinding {
  readonly view: AuditWitnessView;
  readonly broken: AuditBreak | null;
}

/**
 * Compares the log with what the witness saw. What it saw before the last restore may be missing, because a backup is
 * older than the data that it replaces. What it saw since then has to be there.
 */
export function compareWitness(
  lines: readonly WitnessLine[],
  state: WitnessedState,
  problem: string | null,
): WitnessFinding {
  const { head, restoredAt } = state;
  const last = lines.at(-1);
  const base = { last_id: last?.id ?? null, at: last?.at ?? null };
  let explained = false;
  for (const line of lines) {
    const broken = breakOf(line, state);
    if (broken === null) continue;
    if (restoredAt === null || Date.parse(line.at) > restoredAt) {
      const detail = `Row ${line.id} was the last one at ${line.at} with another hash than the log has now, or it is gone`;
      return { view: { ...base, status: 'contradicts', detail }, broken };
    }
    explained = true;
  }
  if (explained && restoredAt !== null) {
    const detail = `A backup was restored at ${new Date(restoredAt).toISOString()}: rows of before that moment are missing`;
    return { view: { ...base, status: 'restored', detail }, broken: null };
  }
  const isBehind = head.lastId > 0 && (last?.id ?? 0) < head.lastId;
  if (isBehind) {
    const detail = problem ?? `The witness has not written the last ${head.lastId - (last?.id ?? 0)} rows yet`;
    return { view: { ...base, status: 'behind', detail }, broken: null };
  }
  return { view: { ...base, status: 'confirms', detail: null }, broken: null };
}

/** Rows that retention deleted cannot be compared, except the last of them. */
function breakOf(line: WitnessLine, { head, hashes }: WitnessedState): AuditBreak | null {
  if (line.id > head.lastId) return { id: head.lastId + 1, reason: 'witness_ahead' };
  if (line.id < head.firstId - 1) return null;
  const hash = line.id === head.firstId - 1 ? head.anchorHash : hashes.get(line.id);
  return hash === line.hash ? null : { id: line.id, reason: 'witness_differs' };
}
