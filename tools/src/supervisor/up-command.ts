import { PlainFailure } from '../../bootstrap/failure.mjs';
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

async function runUntilStopped(platform: Platform, stop: StopRequest, settings: PlatformSettings): Promise<number> {
  const interrupted = stop.received.then(({ exitCode }) => ({ exitCode }));
  const outcome = await Promise.race([platform.start().then((started) => ({ started })), interrupted]);
  if ('exitCode' in outcome) return outcome.exitCode;
  const launchedAt = Number(process.env['GATEHOUSE_LAUNCH_AT'] ?? performance.timeOrigin);
  const kernel = { address: settings.kernelAddress, port: settings.ports[KERNEL_PORT.variable] ?? 0 };
  const tunnels = { address: settings.tunnelAddress, ports: settings.ports };
  const seconds = (Date.now() - launchedAt) / 1000;
  process.stdout.write(`${readyTable(outcome.started, kernel, tunnels, seconds)}\n`);
  collectStartGarbage();
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
  try {
    return await runUntilStopped(platform, stop, settings);
  } finally {
    void stop.repeated.then(() => platform.stop(0));
    const started = Date.now();
    await platform.stop();
    if (platform.hasStarted) say(`Stopped in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
  }
}
