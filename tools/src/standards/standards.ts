/** A clause of a standard, and what holds it. */
export interface HeldClause {
  readonly standard: string;
  readonly clause: string;
  readonly what: string;
  /** The file of the test, relative to the root; undefined where there is nothing to test. */
  readonly file: string | undefined;
  /** The name of the test, or why there is none. */
  readonly test: string;
}

/** Reads the tables of docs/standards.md. */
export function heldClauses(page: string): HeldClause[] {
  let standard = '';
  const found: HeldClause[] = [];
  for (const line of page.split('\n')) {
    if (line.startsWith('## ')) standard = line.slice(3);
    const [, clause, what, held] = /^\| (.+?) \| (.+?) \| (.+?) \|$/.exec(line) ?? [];
    if (clause === undefined || what === undefined || held === undefined || clause === 'clause') continue;
    const [, file, name] = /^`([^`]+)`: (.+)$/.exec(held) ?? [];
    found.push({ standard, clause, what, file, test: name ?? held });
  }
  return found;
}
