import { readRestores } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { AuditStore } from '../chain/audit-store.js';
import { AuditWitness } from './audit-witness.js';
import { compareWitness, type WitnessFinding } from './compare-witness.js';
import { AuditOptions } from '../audit-options.js';
import type { WitnessLine } from './witness-line.js';

/** Compares the log with what the witness saw. */
@Injectable()
export class WitnessCheck {
  constructor(
    private readonly store: AuditStore,
    private readonly witness: AuditWitness,
    private readonly options: AuditOptions,
  ) {}

  async compare(): Promise<WitnessFinding> {
    const { file } = this.witness;
    if (file === null) return finding('off', 'AUDIT_WITNESS_FILE is off');
    await this.witness.flush();
    let lines: WitnessLine[];
    try {
      lines = await file.lines();
    } catch (error) {
      return finding('unreadable', error instanceof Error ? error.message : String(error));
    }
    // In this order, rows that are added or deleted in the meantime make the witness late, but never wrong.
    const hashes = await this.store.hashesOf([...new Set(lines.map(({ id }) => id))]);
    const head = await this.store.head();
    const restoredAt = (await readRestores(this.options.home)).at(-1)?.at ?? null;
    const known = { head, hashes, restoredAt: restoredAt === null ? null : Date.parse(restoredAt) };
    return compareWitness(lines, known, this.witness.problem);
  }
}

function finding(status: 'off' | 'unreadable', detail: string): WitnessFinding {
  return { view: { status, last_id: null, at: null, detail }, broken: null };
}
