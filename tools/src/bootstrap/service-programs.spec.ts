import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../bootstrap/layout.mjs';
import { SERVICE_PROGRAMS } from '../../bootstrap/service-programs.mjs';

/** `new URL('../kernel/kernel-main.js', import.meta.url)`, or with the extension of the file itself. */
const STARTED = /new URL\(\s*['`](\.[^'`$]*?)(?:\.js|\$\{extname\(import\.meta\.url\)\})['`],\s*import\.meta\.url/g;

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

it.each(Object.entries(SERVICE_PROGRAMS))(
  '%s is bundled with every program that it starts',
  (service, { alone, together }) => {
    expect([...new Set(startedBy(service))].sort()).toEqual([...alone].sort());
    for (const program of [...alone, ...together])
      expect(existsSync(join(ROOT, 'apps', service, 'src', `${program}.ts`))).toBe(true);
  },
);
