/** Whether the agent's file uses what the oldest Node that is promised does not have: both Nodes are asked what they have. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vite';
import { expect, it } from 'vitest';
import { AGENT_FILE } from '../support/agent-program.js';
import { requirePeer } from '../support/peers.js';

const LIST_NAMES = fileURLToPath(new URL('../support/list-names.mjs', import.meta.url));
const OLDEST = 'node-20.19.0';

/** Names that are newer than the oldest Node somewhere, and why the file may use them. */
const ALLOWED: Record<string, string> = {
  withResolvers: 'added by apps/tunnel-agent/src/node-20.ts',
  transfer: 'looked for by libs/tunnel-kernel/src/wire/free-memory.ts before it is used',
  code: 'a property of errors',
  data: 'a property of our own',
  file: 'a property of our own',
  flush: 'a method of our own',
  getHourCycles: 'looked for by the parser of messages before it is used',
  mode: 'a property of our own',
  mtime: 'Stats has always had it; it moved to the prototype',
  ports: 'a property of our own',
  run: 'a property of our own',
  target: 'a property of our own',
  throttle: 'a property of our own',
};

interface Used {
  /** Of properties and imports. */
  names: Set<string>;
  globals: string[];
  modules: string[];
}

interface SyntaxNode {
  type: string;
  [field: string]: unknown;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function usedBy(text: string): Used {
  const names = new Set<string>();
  const identifiers = new Set<string>();
  const modules = new Set<string>();
  const nameOf = (node: unknown): string => (isNode(node) && typeof node['name'] === 'string' ? node['name'] : '');
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (!isNode(value)) return;
    if (value.type === 'MemberExpression' && value['computed'] === false) names.add(nameOf(value['property']));
    if (value.type === 'Identifier') identifiers.add(nameOf(value));
    if (value.type === 'ImportSpecifier') names.add(nameOf(value['imported']));
    if (value.type === 'ObjectPattern')
      for (const part of value['properties'] as SyntaxNode[]) names.add(nameOf(part['key']));
    // Some modules are required, which takes less time than an import.
    if (value.type === 'Literal' && /^node:[a-z_/]+$/.test(String(value['value']))) modules.add(String(value['value']));
    if (value.type === 'ImportDeclaration') modules.add(String((value['source'] as { value: unknown }).value));
    for (const field of Object.values(value)) walk(field);
  };
  walk(parseAst(text));
  return { names, globals: [...identifiers].filter((name) => name in globalThis), modules: [...modules] };
}

function namesOf(node: string, { globals, modules }: Used): string[] {
  const args = [LIST_NAMES, JSON.stringify({ globals, modules })];
  return JSON.parse(execFileSync(node, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })) as string[];
}

it('the agent uses nothing that Node 20.19.0 lacks', (context) => {
  const oldest = requirePeer(context, OLDEST);
  const used = usedBy(readFileSync(AGENT_FILE, 'utf8'));
  const there = new Set(namesOf(oldest, used));
  expect(there.has('createServer')).toBe(true);
  const newer = namesOf(process.execPath, used).filter((name) => !there.has(name));
  expect(newer.filter((name) => used.names.has(name)).toSorted()).toEqual(Object.keys(ALLOWED).toSorted());
});
