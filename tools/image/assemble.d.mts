/** False for what no running process reads: types, source maps, documentation, tests. Licences stay. */
export function isRead(name: string): boolean;
/** Puts what the services load into `out`: `packages/` (dependencies of others) and `app/` (our own code). */
export function assemble(root: string, out: string): void;
