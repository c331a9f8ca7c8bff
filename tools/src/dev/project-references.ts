import { readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { ROOT } from '../../bootstrap/layout.mjs';

/** A project and all that it is compiled against, directly or not, as folders relative to `root`. */
export function projectsBehind(project: string, root = ROOT): Set<string> {
  const found = new Set<string>();
  const waiting = [project];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    const { references = [] } = JSON.parse(readFileSync(join(root, next, 'tsconfig.json'), 'utf8')) as {
      references?: { path: string }[];
    };
    for (const { path } of references) waiting.push(relative(root, resolve(root, next, path)));
  }
  return found;
}

/** When the compiler last wrote each project: milliseconds of its build record; 0 where there is none. */
export function compiledAt(projects: Iterable<string>, root = ROOT): Map<string, number> {
  return new Map(
    [...projects].map((project) => {
      const record = statSync(join(root, project, 'dist', '.tsbuildinfo'), { throwIfNoEntry: false });
      return [project, record?.mtimeMs ?? 0];
    }),
  );
}
