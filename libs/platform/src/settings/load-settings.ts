import { validateSync } from 'class-validator';
import { SettingsError, type SettingProblem } from './settings-error.js';
import { variableBindings, type VariableBinding } from './variable.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Prefixes that belong to Gatehouse: an unknown variable with one of them is a typing mistake. */
const OWN_PREFIXES = ['GATEHOUSE_', 'PROXY_GATEWAY_', 'RESOURCE_SHARING_', 'TUNNEL_'];

/** Read by the launch scripts and tests, which pass their whole environment on to the services. */
const LAUNCHER_VARIABLES = new Set(['GATEHOUSE_NODE', 'GATEHOUSE_PEERS_BIN']);
const LAUNCHER_PREFIXES = ['GATEHOUSE_TEST_', 'GATEHOUSE_LAUNCH_'];

/**
 * Reads a settings class from an environment: a frozen, checked object. Throws SettingsError with every invalid,
 * missing and unknown variable. An empty variable counts as unset. Of the other services' prefixes only those that the
 * class itself uses are checked, because all services share one environment.
 */
export function loadSettings<T extends object>(settingsClass: new () => T, env: Environment): Readonly<T> {
  const settings = new settingsClass();
  const bindings = variableBindings(settingsClass.prototype as object);
  const problems: SettingProblem[] = [];
  const unreadable = new Set<string>();
  for (const binding of bindings) {
    const text = textOf(env, binding);
    if (text === undefined) continue;
    const value = readValue(text, binding);
    if (value === undefined) {
      unreadable.add(binding.property);
      problems.push(problemOf(binding, `${quote(text, binding)} is not ${article(binding)}`));
    } else {
      Object.assign(settings, { [binding.property]: value });
    }
  }
  problems.push(...invalidValues(settings, bindings, unreadable), ...unknownVariables(env, bindings));
  if (problems.length > 0) throw new SettingsError(problems);
  return Object.freeze(settings);
}

function textOf(env: Environment, { variable, alias }: VariableBinding): string | undefined {
  return env[variable]?.trim() || (alias !== undefined && env[alias]?.trim()) || undefined;
}

function readValue(text: string, { kind = 'text' }: VariableBinding): unknown {
  switch (kind) {
    case 'text':
      return text;
    case 'list':
      return text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
    case 'integer':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
    case 'boolean':
      return BOOLEANS.get(text.toLowerCase());
  }
}

const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
]);

function invalidValues(settings: object, bindings: VariableBinding[], unreadable: Set<string>): SettingProblem[] {
  const problems: SettingProblem[] = [];
  for (const error of validateSync(settings, { forbidUnknownValues: false })) {
    if (unreadable.has(error.property)) continue;
    const binding = bindings.find(({ property }) => property === error.property);
    const messages = Object.values(error.constraints ?? {}).join(', ') || 'is not acceptable';
    if (binding === undefined) {
      problems.push({ variable: error.property, problem: messages, expected: 'an acceptable value' });
    } else if (error.value === undefined) {
      problems.push(problemOf(binding, 'is not set'));
    } else {
      problems.push(problemOf(binding, `${quote(showValue(error.value), binding)} is not acceptable`));
    }
  }
  return problems;
}

function unknownVariables(env: Environment, bindings: VariableBinding[]): SettingProblem[] {
  const known = new Set(bindings.flatMap(({ variable, alias = variable }) => [variable, alias]));
  const prefixes = OWN_PREFIXES.filter((prefix) => bindings.some(({ variable }) => variable.startsWith(prefix)));
  return Object.keys(env)
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)))
    .filter((name) => !known.has(name) && !LAUNCHER_VARIABLES.has(name))
    .filter((name) => !LAUNCHER_PREFIXES.some((prefix) => name.startsWith(prefix)))
    .map((variable) => {
      const meant = nearestName(variable, known);
      const expected = meant === undefined ? 'it to be removed' : `perhaps ${meant}`;
      return { variable, problem: 'is not a variable of this service', expected };
    });
}

function problemOf({ variable, expected }: VariableBinding, problem: string): SettingProblem {
  return { variable, problem, expected };
}

function quote(text: string, { secret }: VariableBinding): string {
  return secret === true ? 'the given value' : JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function showValue(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value);
}

function article({ kind = 'text' }: VariableBinding): string {
  return kind === 'integer' ? 'a whole number' : `a ${kind}`;
}

/** The candidate within two edits of the given name, if there is one: for "did you mean". */
function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = 3;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const current = [i];
    for (let j = 1; j <= right.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
