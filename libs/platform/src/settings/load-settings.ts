import { bilingual, type Bilingual } from '@gatehouse/i18n';
import { validateSync } from 'class-validator';
import { SettingsError, type SettingProblem } from './settings-error.js';
import { variableBindings, type VariableBinding, type VariableKind } from './variable.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Prefixes that belong to Gatehouse: an unknown variable with one of them is a typing mistake. */
const OWN_PREFIXES = ['GATEHOUSE_', 'PROXY_GATEWAY_', 'RESOURCE_SHARING_', 'TUNNEL_'];

/** Read by the launch scripts and tests, which pass their whole environment on to the services. */
const LAUNCHER_VARIABLES = new Set(['GATEHOUSE_NODE', 'GATEHOUSE_PEERS_BIN']);
const LAUNCHER_PREFIXES = ['GATEHOUSE_TEST_', 'GATEHOUSE_LAUNCH_'];

/**
 * Reads a settings class from an environment: a frozen, checked object. An empty variable counts as unset. Of the other
 * services' prefixes only those that the class itself uses are checked, because all services share one environment.
 * @throws SettingsError with every invalid, missing and unknown variable.
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
      problems.push(problemOf(binding, wrongKind(text, binding)));
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

const INVALID = bilingual('is not acceptable', '无效');
const VALID = bilingual('an acceptable value', '有效的值');
const KINDS: Readonly<Record<VariableKind, Bilingual>> = {
  text: bilingual('a text', '文本'),
  integer: bilingual('a whole number', '整数'),
  boolean: bilingual('a boolean', '布尔值'),
  list: bilingual('a list', '列表'),
};

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
    const messages = Object.values(error.constraints ?? {}).join(', ') || INVALID.en;
    if (binding === undefined) {
      problems.push({ variable: error.property, problem: bilingual(messages, messages), expected: VALID });
    } else if (error.value === undefined) {
      problems.push(problemOf(binding, bilingual('is not set', '未设置')));
    } else {
      problems.push(problemOf(binding, invalid(quote(showValue(error.value), binding))));
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
      const expected =
        meant === undefined
          ? bilingual('it to be removed', '删除此变量')
          : bilingual(`perhaps ${meant}`, `可能应写作 ${meant}`);
      return { variable, problem: bilingual('is not a variable of this service', '不是此服务的变量'), expected };
    });
}

function problemOf({ variable, expected }: VariableBinding, problem: Bilingual): SettingProblem {
  return { variable, problem, expected };
}

/** The value as it was given, unless it is a secret. */
function quote(text: string, { secret }: VariableBinding): Bilingual {
  if (secret === true) return bilingual('the given value', '给定的值');
  const quoted = JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
  return bilingual(quoted, `${quoted} `);
}

function invalid(quoted: Bilingual): Bilingual {
  return bilingual(`${quoted.en} ${INVALID.en}`, `${quoted['zh-CN']}${INVALID['zh-CN']}`);
}

function wrongKind(text: string, binding: VariableBinding): Bilingual {
  const quoted = quote(text, binding);
  const kind = KINDS[binding.kind ?? 'text'];
  return bilingual(`${quoted.en} is not ${kind.en}`, `${quoted['zh-CN']}不是${kind['zh-CN']}`);
}

function showValue(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value);
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
