import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { Complaint, complaintOf, UsageError } from '../options/command-line.js';
import { AGENT_OPTIONS, readSettings, settingsFile, type Environment } from '../options/settings.js';

export const SERVICE_ACTIONS = ['install', 'uninstall', 'status'] as const;
export type ServiceAction = (typeof SERVICE_ACTIONS)[number];

/** Which service, wherever it is installed. */
export interface ServiceChoice {
  name: string;
  scope: 'system' | 'user';
  runAs: string | undefined;
  dryRun: boolean;
}

export interface InstallSettings {
  config: string;
  key: string;
  graceSeconds: number;
  fileRoots: string[];
}

export type ServiceCommand =
  | { service: { action: 'install'; choice: ServiceChoice; settings: InstallSettings } }
  | { service: { action: 'uninstall' | 'status'; choice: ServiceChoice } }
  | { print: 'usage' };

const OWN = {
  user: { type: 'boolean' },
  name: { type: 'string' },
  'run-as': { type: 'string' },
  'dry-run': { type: 'boolean' },
} as const;
const BASE = 'tunnel-agent';
const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/i;
const ACCOUNT = /^[a-z_][a-z0-9_.-]{0,31}$/i;

/** `install|uninstall|status` with the options of the service; with `install`, those of the agent, too. @throws UsageError */
export function readServiceCommand([first, ...args]: readonly string[], environment: Environment): ServiceCommand {
  const action = SERVICE_ACTIONS.find((known) => known === first);
  if (first === '--help' || first === '-h' || args.includes('--help')) return { print: 'usage' };
  if (!action) throw new UsageError([new Complaint((words) => words.text('usage.serviceAction'))]);
  const { values, agent } = split(args, action === 'install' ? { ...AGENT_OPTIONS, ...OWN } : OWN);
  const choice = choiceOf(values);
  if (action !== 'install') return { service: { action, choice } };
  const command = readSettings(agent, environment, false);
  if (!('run' in command)) return { print: 'usage' };
  const { key, graceMs, fileRoots } = command.run;
  const config = settingsFile(agent, environment);
  return { service: { action, choice, settings: { config, key, graceSeconds: graceMs / 1000, fileRoots } } };
}

type OwnValues = { [Name in keyof typeof OWN]?: string | boolean | undefined };

/** The service's own options, and the arguments that are the agent's. */
function split(args: readonly string[], options: ParseArgsOptionsConfig): { values: OwnValues; agent: string[] } {
  try {
    const { values, tokens } = parseArgs({ args: [...args], options, tokens: true });
    const agent = tokens.flatMap((token) => {
      if (token.kind !== 'option' || Object.hasOwn(OWN, token.name)) return [];
      return token.value === undefined ? [token.rawName] : [`--${token.name}=${token.value}`];
    });
    return { values: values as OwnValues, agent };
  } catch (error) {
    throw new UsageError([complaintOf(error as NodeJS.ErrnoException)]);
  }
}

function choiceOf({ user, name, 'run-as': runAs, 'dry-run': dryRun }: OwnValues): ServiceChoice {
  const problems: Complaint[] = [];
  if (typeof name === 'string' && !NAME.test(name)) {
    problems.push(new Complaint((words) => words.text('usage.serviceName', { text: name })));
  }
  if (typeof runAs === 'string' && !ACCOUNT.test(runAs)) {
    problems.push(new Complaint((words) => words.text('usage.serviceAccount', { text: runAs })));
  }
  if (user === true && runAs !== undefined)
    problems.push(new Complaint((words) => words.text('usage.serviceUserRunAs')));
  if (problems.length > 0) throw new UsageError(problems);
  return {
    name: typeof name === 'string' ? `${BASE}-${name}` : BASE,
    scope: user === true ? 'user' : 'system',
    runAs: typeof runAs === 'string' ? runAs : undefined,
    dryRun: dryRun === true,
  };
}
