import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { ROOT } from '../bootstrap/layout.mjs';
import { COMMANDS as NAMES } from '../bootstrap/names.mjs';
import { COMMANDS, run } from './commands.js';

/** Carried out before anything is built, or by the launcher itself. */
const OF_THE_LAUNCHER = ['build', 'check', 'format', 'runtimes'];

it('every npm script has a command behind it, and every command a script', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const called = Object.entries(scripts).flatMap(([script, line]) => {
    const [, name] = /^node tools\/run\.mjs (\S+)/.exec(line) ?? [];
    return name === undefined ? [] : [{ script, name }];
  });
  expect(called.length).toBeGreaterThan(15);
  const named = Object.entries(NAMES).map(([name, { script }]) => ({ script, name }));
  const byScript = (list: typeof called) => list.toSorted((a, b) => a.script.localeCompare(b.script));
  expect(byScript(named)).toEqual(byScript(called));
  const built = named.map(({ name }) => name).filter((name) => !OF_THE_LAUNCHER.includes(name));
  expect(built.filter((name) => !(name in COMMANDS))).toEqual([]);
});

it.each(['peers', 'faults', 'hostile', 'replicas', 'rehearse-scale', 'tour', 'security'])(
  '%s says in a line which option it does not have',
  async (name) => {
    const lines: string[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
    expect(await run(name, ['--no-such-option'])).toBe(1);
    expect(lines.join('')).toMatch(/^gatehouse: Unknown option '--no-such-option'.*\n$/);
  },
);
