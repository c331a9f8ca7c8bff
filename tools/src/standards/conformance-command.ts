import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../bootstrap/layout.mjs';
import { table } from '../table.js';
import { heldClauses } from './standards.js';

/** Prints which clause of which standard which test holds. */
export async function conformanceCommand(): Promise<number> {
  const clauses = heldClauses(readFileSync(path.join(ROOT, 'docs/standards.md'), 'utf8'));
  for (const [standard, held] of Map.groupBy(clauses, (clause) => clause.standard)) {
    const rows = held.map(({ clause, what, file, test }) => [
      clause,
      what,
      file === undefined ? test : `${path.basename(file)}: ${test}`,
    ]);
    process.stdout.write(`\n${standard}\n${table([['clause', 'what', 'test'], ...rows], '  ')}\n`);
  }
  return 0;
}
