import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../bootstrap/layout.mjs';
import { SERVICE_PROGRAMS } from '../../bootstrap/service-programs.mjs';

/** `new URL('../kernel/kernel-main.js', import.meta.url)`, or with the extension of the file itself. */
const STARTED = /new URL\(\s*['`](\.[^'`$]*?)(?:\.js|\$\{extname\(import\.meta\.url\)\})['`],\s*import\.meta\.url/g;

/** `from "./chunk.js"`, `import "./chunk.js"` and `import("./chunk.js")`. */
const LOADED = /(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]*\.js)"/g;

/** Files that a service names in order to start them as a process or thread, as paths in its sources without `.ts`. */
function startedBy(service: string): string[] {
  const sources = join(ROOT, 'apps', service, 'src');
  return readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .flatMap((file) => {
      const path = join(sources, file);
      const programs = [...readFileSync(path, 'utf8').matchAll(STARTED)].map(([, program = '']) => program);
      return programs.map((program) => relative(sources, join(dirname(path), program)));
    });
}

/** The files of a bundle that these programs load, with their texts; those of earlier builds stay beside them for a day. */
function bundled(service: string, programs: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const add = (file: string): void => {
    if (found.has(file)) return;
    const text = readFileSync(file, 'latin1');
    found.set(file, text);
    for (const [, path = ''] of text.matchAll(LOADED)) add(join(dirname(file), path));
  };
  for (const program of programs) add(join(ROOT, 'apps', service, 'bundle', `${program}.js`));
  return found;
}

it.each(Object.entries(SERVICE_PROGRAMS))(
  '%s is bundled as ASCII, which V8 keeps with one byte a character',
  (service, { alone, together }) => {
    const files = bundled(service, [...alone, ...together, 'settings']);
    expect(files.size).toBeGreaterThan(alone.length + together.length);
    // A tagged template cannot be escaped: markup has entities, and patterns are regular expressions.
    // oxlint-disable-next-line no-control-regex
    expect([...files].filter(([, text]) => /[^\0-\x7f]/.test(text)).map(([file]) => file)).toEqual([]);
  },
);

it.each(Object.entries(SERVICE_PROGRAMS))(
  '%s is bundled with every program that it starts',
  (service, { alone, together }) => {
    expect([...new Set(startedBy(service))].sort()).toEqual([...alone].sort());
    for (const program of [...alone, ...together])
      expect(existsSync(join(ROOT, 'apps', service, 'src', `${program}.ts`))).toBe(true);
  },
);
