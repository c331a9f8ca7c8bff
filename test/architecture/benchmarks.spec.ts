import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const IMPORT = /import \{([^}]*)\} from '((?:\.\.\/)+(?:apps|libs)\/[^']*\/dist\/[^']*)\.js'/g;

/** What a benchmark takes from built files of services, which no compiler checks: `source file` and name. */
function takenBy(file: string): [source: string, name: string][] {
  return [...readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)].flatMap(([, names = '', from = '']) => {
    const source = `${normalize(join(dirname(file), from)).replace('/dist/', '/src/')}.ts`;
    return names.split(',').map((name): [string, string] => [source, name.trim()]);
  });
}

describe('benchmarks', () => {
  const taken = globSync('test/bench/**/*.mjs', { cwd: ROOT }).flatMap(takenBy);

  it('import something from the services', () => {
    expect(taken.length).toBeGreaterThan(0);
  });

  it.each(taken)('find in %s what they import: %s', (source, name) => {
    expect(readFileSync(join(ROOT, source), 'utf8')).toMatch(
      new RegExp(`^export (async )?(const|class|function) ${name}\\b`, 'm'),
    );
  });
});
