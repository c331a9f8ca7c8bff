import { PlainFailure } from '../../bootstrap/failure.mjs';
import { BackupSchedule } from '../backups/backup-schedule.js';
import { writeInChild } from '../backups/write-in-child.js';
import { collectStartGarbage } from './collect-start-garbage.js';
import { Platform, type PlatformOptions, type StartedPlatform } from './platform.js';
import { POSTGRES_PORT_VARIABLE, readPlatformSettings, type PlatformSettings } from './platform-settings.js';
import { readyTable } from './ready-table.js';
import { KERNEL_PORT } from './service-list.js';
import { settingProblems, UNKNOWN_DATABASE } from './settings-check.js';
import { watchForStop, type StopRequest } from './stop-request.js';
import { localized } from '../../bootstrap/language.mjs';

/** One line for the person at the terminal. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A terminal that is gone must not keep us from stopping in order. */
function tolerateLostTerminal(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Runs beside the platform: `start` when everything is ready, `stop` before the services stop. */
export interface Companion {
  start(started: StartedPlatform): Promise<void>;
  stop(): Promise<void>;
}

/** Written by a process of its own, which finds the running platform by its home. */
function backupsOf({ backups, home }: PlatformSettings): Companion | undefined {
  if (backups === undefined) return undefined;
  const env = { ...process.env, GATEHOUSE_HOME: home };
  return new BackupSchedule({ settings: backups, write: writeInChild(env), notify: say });
}

async function runUntilStopped(
  platform: Platform,
  stop: StopRequest,
  settings: PlatformSettings,
  companion: Companion | undefined,
): Promise<number> {
  const interrupted = stop.received.then(({ exitCode }) => ({ exitCode }));
  const outcome = await Promise.race([platform.start().then((started) => ({ started })), interrupted]);
  if ('exitCode' in outcome) return outcome.exitCode;
  const launchedAt = Number(process.env['GATEHOUSE_LAUNCH_AT'] ?? performance.timeOrigin);
  const kernel = { address: settings.kernelAddress, port: settings.ports[KERNEL_PORT.variable] ?? 0 };
  const tunnels = { address: settings.tunnelAddress, ports: settings.ports };
  const seconds = (Date.now() - launchedAt) / 1000;
  process.stdout.write(`${readyTable(outcome.started, kernel, tunnels, seconds)}\n`);
  collectStartGarbage();
  await companion?.start(outcome.started);
  const { reason, exitCode } = await stop.received;
  say(localized(`Stopping (${reason}) ...`, `正在停止（${reason}）…`));
  return exitCode;
}

/** What is wrong with the ports is said together with what is wrong with any service's settings. */
async function readAllSettings(env: NodeJS.ProcessEnv): Promise<PlatformSettings> {
  try {
    return readPlatformSettings(env);
  } catch (failure) {
    if (!(failure instanceof PlainFailure)) throw failure;
    const { [POSTGRES_PORT_VARIABLE]: _port, ...forServices } = env;
    const found = await settingProblems({ DATABASE_URL: UNKNOWN_DATABASE, ...forServices }, env);
    const others = found.filter((line) => !failure.advice.join(' ').includes(line.split(':')[0] ?? ''));
    throw new PlainFailure(failure.message, { advice: [...failure.advice, ...others], cause: failure });
  }
}

/** Runs the platform and what is beside it until a signal ends them; resolves with the exit code. */
export async function runPlatform(
  options: PlatformOptions,
  companionOf: (platform: Platform, settings: PlatformSettings) => Companion | undefined,
): Promise<number> {
  tolerateLostTerminal();
  const settings = await readAllSettings(process.env);
  const stop = watchForStop();
  const platform = new Platform(settings, process.env, say, options);
  const companion = companionOf(platform, settings);
  void stop.repeated.then(() => platform.stop(0));
  let exitCode: number;
  try {
    exitCode = await runUntilStopped(platform, stop, settings, companion);
  } catch (error) {
    await companion?.stop();
    await platform.stop();
    throw error;
  }
  const started = Date.now();
  await companion?.stop();
  await platform.stop();
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  if (platform.hasStarted) say(localized(`Stopped in ${seconds} s.`, `已停止，用时 ${seconds} 秒。`));
  return exitCode;
}

/** `npm start`: runs the platform until a signal ends it. */
export async function upCommand(args: string[]): Promise<number> {
  if (args.length > 0)
    throw new PlainFailure(
      localized(
        `npm start takes no arguments (${args.join(' ')}); it is set by variables.`,
        `npm start 不接受参数（${args.join(' ')}），请使用环境变量设置。`,
      ),
    );
  return runPlatform({}, (_platform, settings) => backupsOf(settings));
}
