import { parseArgs } from 'node:util';
import { Complaint, complaintOf, Problems, UsageError } from '../options/command-line.js';
import { readProxy } from '../options/proxy-settings.js';
import { OWN_ENVIRONMENT, type Environment } from '../options/settings.js';
import type { ProxyChoice } from '../proxy/proxy-address.js';
import { readGateway } from './gateway-setting.js';
import { KeptLogins } from './kept-logins.js';

export interface LoginSettings {
  action: 'login' | 'logout';
  gateway: string;
  proxyFor: ProxyChoice;
}

export type LoginCommand = { account: LoginSettings } | { print: 'usage' };

const OPTIONS = { proxy: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;

export function isLoginAction(command: string | undefined): command is LoginSettings['action'] {
  return command === 'login' || command === 'logout';
}

/** `login https://HOST` and `logout [https://HOST]`. @throws UsageError */
export function readLoginCommand(
  [action, ...args]: readonly string[],
  environment: Environment = OWN_ENVIRONMENT,
): LoginCommand {
  const { values, positionals } = parse(args);
  if (values.help) return { print: 'usage' };
  const problems = new Problems();
  const [named, extra] = positionals;
  const gateway = problems.note(() => {
    if (extra !== undefined) throw new Complaint((words) => words.text('usage.notAnOption', { text: extra }));
    return readGateway(named ?? environment['GATEHOUSE_GATEWAY'] ?? onlyGateway(KeptLogins.of(environment)));
  }, '');
  const scheme = gateway.startsWith('http:') ? 'http' : 'https';
  const proxyFor = readProxy({ setting: values.proxy, environment }, scheme, problems);
  problems.throwIfAny();
  return { account: { action: action === 'logout' ? 'logout' : 'login', gateway, proxyFor } };
}

/** The gateway that this user is logged in at, if there is one; undefined: none. @throws Complaint for several */
export function onlyGateway(logins: KeptLogins): string | undefined {
  const known = logins.gateways();
  if (known.length > 1) {
    throw new Complaint((words) => words.text('usage.whichGateway', { gateways: known.join(', ') }));
  }
  return known[0];
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError([complaintOf(error as NodeJS.ErrnoException)]);
  }
}
