import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { PlainFailure } from '../../bootstrap/failure.mjs';

export interface ComposeService {
  image?: string;
  command?: string[];
  environment?: Record<string, string | number>;
  /** `address:published:container`. */
  ports?: string[];
  volumes?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
  restart?: string;
  /** Started only where one of these is asked for. */
  profiles?: string[];
}

export interface ComposeFile {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
}

type Variables = Readonly<Record<string, string>>;

/**
 * Reads a compose file with its variables filled in, as `docker compose config` would.
 * @throws PlainFailure naming every `${NAME:?…}` that has no value.
 */
export function readComposeFile(file: string, variables: Variables): ComposeFile {
  const missing = new Set<string>();
  // Variables are filled in after parsing, as compose does it: a value can hold anything and stays one string.
  const parsed: unknown = parse(readFileSync(file, 'utf8'), { merge: true });
  const filled = fillIn(parsed, (text) => interpolate(text, variables, missing));
  if (missing.size > 0) {
    throw new PlainFailure('docker-compose.yml needs values.', { advice: [`missing: ${[...missing].join(', ')}`] });
  }
  return filled as ComposeFile;
}

function fillIn(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((item) => fillIn(item, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillIn(item, fill)]));
}

const VARIABLE = /\$\{([A-Z_]+)(?::([-?])([^{}]*))?\}/g;

/**
 * `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, where a default may hold variables: what this project's file uses
 * of the compose specification.
 */
export function interpolate(text: string, variables: Variables, missing: Set<string>): string {
  const values: string[] = [];
  // A value may look like a variable and is none: it is put in at the end, and only marked until then.
  const mark = (value: string): string => `\0${values.push(value) - 1}\0`;
  let open = text;
  for (let before = ''; before !== open;) {
    before = open;
    // The innermost ones, whose defaults hold no variable.
    open = open.replace(VARIABLE, (_whole, name: string, kind?: string, rest = '') => {
      const value = variables[name] ?? '';
      if (value !== '') return mark(value);
      if (kind === '?') missing.add(name);
      return kind === '-' ? (rest as string) : '';
    });
  }
  return open.replace(/\0(\d+)\0/g, (_whole, index: string) => values[Number(index)] ?? '');
}

/** Services in an order in which each comes after those it depends on. @throws PlainFailure on a circle. */
export function startOrder(services: Readonly<Record<string, ComposeService>>): string[] {
  const order: string[] = [];
  const open = new Set<string>();
  const visit = (name: string): void => {
    if (order.includes(name)) return;
    if (open.has(name)) throw new PlainFailure(`docker-compose.yml: ${name} depends on itself.`);
    open.add(name);
    for (const dependency of Object.keys(services[name]?.depends_on ?? {})) visit(dependency);
    order.push(name);
  };
  for (const name of Object.keys(services)) visit(name);
  return order;
}
