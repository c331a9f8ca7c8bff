import { PlainFailure } from '../../bootstrap/failure.mjs';
import { BackupSchedule } from '../backups/backup-schedule.js';
import { writeInChild } from '../backups/write-in-child.js';
import { collectStartGarbage } from './collect-start-garbage.js';
import { Platform } from './platform.js';
import { readPlatformSettings, type PlatformSettings } from './platform-settings.js';
import { readyTable } from './ready-table.js';
import { KERNEL_PORT } from './service-list.js';
import { watchForStop, type StopRequest } from './stop-request.js';

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A terminal that is gone must not keep us from stopping in order. */
function tolerateLostTerminal(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Written by a process of its own, which finds the running platform by its home. */
function backupsOf({ backups, home }: PlatformSettings): BackupSchedule | undefined {
  if (backups === undefined) return undefined;
  const env = { ...process.env, GATEHOUSE_HOME: home };
  return new BackupSchedule({ settings: backups, write: writeInChild(env), notify: say });
}

async function runUntilStopped(
  platform: Platform,
  stop: StopRequest,
  settings: PlatformSettings,
  backups: BackupSchedule | undefined,
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
  await backups?.start();
  const lost = platform.databaseLost().then((reason) => ({ reason, exitCode: 1 }));
  const { reason, exitCode } = await Promise.race([stop.received, lost]);
  say(`Stopping (${reason}) ...`);
  return exitCode;
}

/** `npm start`: runs the platform until a signal ends it. */
export async function upCommand(args: string[]): Promise<number> {
  if (args.length > 0)
    throw new PlainFailure(`npm start takes no arguments (${args.join(' ')}); it is set by variables.`);
  tolerateLostTerminal();
  const settings = readPlatformSettings(process.env);
  const stop = watchForStop();
  const platform = new Platform(settings, process.env, say);
  const backups = backupsOf(settings);
  try {
    return await runUntilStopped(platform, stop, settings, backups);
  } finally {
    void stop.repeated.then(() => platform.stop(0));
    const started = Date.now();
    await backups?.stop();
    await platform.stop();
    if (platform.hasStarted) say(`Stopped in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
  }
}
