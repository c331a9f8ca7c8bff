import { guardPromise } from '@gatehouse/net';
import type { KernelEnvironment, KernelLogger, ProxyKernel } from '@gatehouse/proxy-kernel';
import { createSystemResolver } from '@gatehouse/proxy-kernel';
import { KernelChild } from './kernel-child.js';
import { KernelEventQueue } from './kernel-event-queue.js';
import { KernelGeo } from './kernel-geo.js';
import type { ChildMessage, KernelLogEntry, ParentMessage } from '../common/kernel-ipc.js';
import type { SpoolFiles } from '../common/spool-files.js';
import { openSpool } from './record-spool.js';

/** Creates the kernel of this process. `fail` ends the process, and the service starts another. */
export type CreateKernel = (
  environment: KernelEnvironment,
  fail: (reason: string) => void,
  geo: KernelGeo,
) => Promise<ProxyKernel>;

/** Resolves when the channel has accepted the message, which gives backpressure. */
function send(message: ChildMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!process.send) reject(new Error('This program is started by proxy-gateway, not by hand.'));
    else process.send(message, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}

/** Time for flows to end and their records to be written after the service is gone. */
const LAST_MS = 200;

export interface KernelProgramOptions {
  /** Keep the kernel's records until the service has stored them. */
  spoolFiles: SpoolFiles | null;
  sharesPorts: boolean;
}

/** Runs one kernel in this process, which the service configures over IPC. It ends with the channel. */
export async function runKernelProgram(
  create: CreateKernel,
  { spoolFiles, sharesPorts }: KernelProgramOptions,
): Promise<void> {
  const { events, logger } = openEvents(spoolFiles);
  const geo = new KernelGeo(logger);
  /** The process must not outlive the service, nor continue after an unexpected error. */
  const die = async (message: string, reason: string): Promise<void> => {
    logger.error(message, { error: reason });
    await events.flush();
    process.exit(1);
  };
  let leave = (): void => process.exit(0);
  process.on('disconnect', () => leave());
  process.on('uncaughtException', (error) => void die('The kernel failed', textOf(error)));
  process.on('unhandledRejection', (error) => void die('The kernel failed', textOf(error)));
  // The service decides when the kernel ends, but a Ctrl-C reaches the whole process group.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  const resolver = createSystemResolver();
  const environment = { now: () => Date.now(), logger, resolver, country: geo.country, asn: geo.asn, sharesPorts };
  const kernel = await create(environment, (reason) => void die('The kernel ended', reason), geo);
  const child = new KernelChild(kernel, events, {
    send,
    exit: (code) => process.exit(code),
    sharesPorts,
    reloadGeo: (paths) => geo.reload(paths),
  });
  leave = () => endAlone(child, events);
  process.on('message', (message: ParentMessage) => guardPromise(null, child.handle(message)));
  await send({ type: 'ready', pid: process.pid }).catch(() => process.exit(1));
  if (events.leftSpools.length > 0) await send({ type: 'left', spools: events.leftSpools }).catch(() => undefined);
}

/** Opens queue and log. They depend on each other: the spool logs its warnings, and log lines go through the queue. */
function openEvents(files: SpoolFiles | null): { events: KernelEventQueue; logger: KernelLogger } {
  let logger: KernelLogger | null = null;
  const notes: string[] = [];
  const warn = (message: string): void => (logger ? logger.warn(message) : void notes.push(message));
  const spool = files && openSpool(files, { warn });
  const events = new KernelEventQueue((batch) => send({ type: 'events', ...batch }), undefined, spool);
  logger = loggerOver(events);
  notes.splice(0).forEach(warn);
  return { events, logger };
}

/** Called when the service is gone. Records that it did not store stay in the spool, including those of open flows. */
function endAlone(child: KernelChild, events: KernelEventQueue): void {
  const exit = (): never => {
    events.keep();
    process.exit(0);
  };
  events.keep();
  setTimeout(exit, LAST_MS);
  void child.end(0).then(exit, exit);
}

function loggerOver(events: KernelEventQueue): KernelLogger {
  const log =
    (level: KernelLogEntry['level']): KernelLogger['info'] =>
    (message, fields) =>
      events.log({ at: Date.now(), level, message, ...(fields ? { fields } : {}) });
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
