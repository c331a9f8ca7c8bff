import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { Complaint, UsageError } from './options/command-line.js';
import { EXIT } from './exit-codes.js';
import { launchdPlan } from './service/launchd-plan.js';
import type { AgentWords } from './messages/index.js';
import type { Output } from './reporter.js';
import {
  install,
  isInstalled,
  isOurs,
  planText,
  remove,
  type RunCommand,
  type ServicePlan,
} from './service/service-plan.js';
import type { ServiceProgram, ServiceRequest } from './service/service-request.js';
import type { ServiceChoice, ServiceCommand } from './service/service-settings.js';
import type { Environment } from './options/settings.js';
import { systemdPlan } from './service/systemd-plan.js';
import { windowsPlan } from './service/windows-plan.js';

const COMMAND_MS = 90_000;

export interface ServiceContext {
  words: AgentWords;
  output: Output;
  environment: Environment;
  program: ServiceProgram;
}

type Service = Extract<ServiceCommand, { service: unknown }>['service'];

/** Returns the exit code. @throws UsageError */
export function runService(service: Service, context: ServiceContext): number {
  const { words, output } = context;
  const { action, choice } = service;
  const plan = planOf(service, context);
  const { definition } = plan;
  if (plan.untried) output.write(`${words.text('service.untried')}\n`);
  if (action === 'status') return showStatus(plan, choice, context);
  if (!choice.dryRun) checkRight(choice);
  if (isInstalled(plan) && !isOurs(plan)) throw refusal((said) => said.text('service.notOurs', { path: definition }));
  if (action === 'uninstall') {
    if (!isInstalled(plan)) throw refusal((said) => said.text('service.notInstalled', { path: definition }));
    if (!choice.dryRun) removeService(plan);
    for (const path of writtenBy(plan)) output.write(`- ${path}\n`);
    output.write(
      `${words.text(choice.dryRun ? 'service.wouldBeRemoved' : 'service.removed', { name: choice.name })}\n`,
    );
    return EXIT.stopped;
  }
  return addService(plan, choice, context);
}

function addService(plan: ServicePlan, choice: ServiceChoice, { words, output, environment }: ServiceContext): number {
  if (choice.dryRun) {
    output.write(planText(plan));
    return EXIT.stopped;
  }
  try {
    install(plan, runCommand);
  } catch (error) {
    throw refusal((said) => said.text('service.failed', { reason: (error as Error).message }), error);
  }
  for (const path of writtenBy(plan)) output.write(`+ ${path}\n`);
  output.write(`${words.text('service.installed', { name: choice.name })}\n`);
  if (plan.linger) output.write(`${words.text('service.linger', { command: plan.linger.join(' ') })}\n`);
  const proxied = ['https_proxy', 'http_proxy', 'all_proxy'].some(
    (name) => environment[name] ?? environment[name.toUpperCase()],
  );
  if (proxied) output.write(`${words.text('service.proxy')}\n`);
  return EXIT.stopped;
}

/** @throws UsageError */
function removeService(plan: ServicePlan): void {
  try {
    remove(plan, runCommand);
  } catch (error) {
    throw refusal((words) => words.text('service.notRemoved', { reason: (error as Error).message }), error);
  }
}

/** Without it, half of the files could be written. @throws UsageError */
function checkRight({ scope }: ServiceChoice): void {
  const uid = process.getuid?.();
  if (scope === 'system' && uid !== undefined && uid !== 0) throw refusal((words) => words.text('service.needsRoot'));
}

function showStatus(plan: ServicePlan, { name }: ServiceChoice, { words, output }: ServiceContext): number {
  if (!isInstalled(plan)) {
    output.write(`${words.text('service.notInstalled', { path: plan.definition })}\n`);
    return EXIT.noAgent;
  }
  const { status, output: said } = runCommand(plan.check);
  output.write(`${name}: ${said.trim()}\n`);
  return status === 0 ? EXIT.stopped : EXIT.offline;
}

function writtenBy({ files, folders }: ServicePlan): string[] {
  return [...new Set([...files.map(({ path }) => path), ...folders])].toSorted();
}

/** @throws UsageError for what this system does not have */
function planOf(service: Service, { program, environment }: ServiceContext): ServicePlan {
  const { choice } = service;
  const { config = '', key = '', graceSeconds = 0, fileRoots = [] } = 'settings' in service ? service.settings : {};
  const home = environment['HOME'] ?? homedir();
  const request: ServiceRequest = { ...choice, config, key, graceSeconds, fileRoots, program, home };
  if ('settings' in service && choice.scope === 'system') checkReach(program, home);
  if (process.platform === 'linux') return systemdPlan(request, systemdVersion());
  if (process.platform === 'darwin') {
    const needsAccount = choice.scope === 'system' && choice.runAs === undefined && service.action === 'install';
    if (needsAccount) throw refusal((words) => words.text('usage.serviceNeedsRunAs'));
    return launchdPlan(request, process.getuid?.() ?? 0);
  }
  const isPlain = choice.scope === 'system' && choice.runAs === undefined;
  if (process.platform !== 'win32')
    throw refusal((words) => words.text('service.noSystem', { system: process.platform }));
  if (!isPlain) throw refusal((words) => words.text('usage.serviceOfWindows'));
  return windowsPlan(request, environment['ProgramData'] ?? String.raw`C:\ProgramData`);
}

/** A service of the system does not see homes: a Node in one would not be found. The program itself is copied. */
function checkReach({ executable, script }: ServiceProgram, home: string): void {
  if (script === null) return;
  const folder = dirname(realpathSync(executable));
  const isBelow = [home, '/home', '/root'].some((place) => place !== '/' && `${folder}/`.startsWith(`${place}/`));
  if (isBelow) throw refusal((words) => words.text('service.nodeInHome', { path: executable }));
}

/** 0: not known. */
function systemdVersion(): number {
  const { output } = runCommand(['systemctl', '--version']);
  return Number(/^systemd (\d+)/.exec(output)?.[1] ?? 0);
}

const runCommand: RunCommand = ([command = '', ...args]) => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', timeout: COMMAND_MS });
  return { status: status ?? 1, output: error ? error.message : `${stdout}${stderr}` };
};

function refusal(say: ConstructorParameters<typeof Complaint>[0], cause?: unknown): UsageError {
  return new UsageError([new Complaint(say, { cause })]);
}
