import { guardPromise } from '@gatehouse/net';
import type { KernelEnvironment, KernelLogger, ProxyKernel } from '@gatehouse/proxy-kernel';
import { createSystemResolver } from '@gatehouse/proxy-kernel';
import { KernelChild } from './kernel-child.js';
import { KernelEventQueue } from './kernel-event-queue.js';
import { KernelGeo } from './kernel-geo.js';
import type { ChildMessage, KernelLogEntry, ParentMessage } from '../common/kernel-ipc.js';

/** Makes the kernel of this process. `fail` ends the process: the service starts another. */
export type CreateKernel = (environment: KernelEnvironment, fail: (reason: string) => void) => Promise<ProxyKernel>;

/** Resolves when the channel took the message: that is the backpressure. */
function send(message: ChildMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!process.send) reject(new Error('This program is started by proxy-gateway, not by hand.'));
    else process.send(message, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}

/** Runs one kernel in this process, told over IPC what to be. It ends with the channel. */
export async function runKernelProgram(create: CreateKernel): Promise<void> {
  const events = new KernelEventQueue((batch) => send({ type: 'events', ...batch }));
  const logger = loggerOver(events);
  const geo = new KernelGeo(logger);
  /** The process must not outlive the service, nor go on after a failure nobody expected. */
  const die = async (message: string, reason: string): Promise<void> => {
    logger.error(message, { error: reason });
    await events.flush();
    process.exit(1);
  };
  process.on('disconnect', () => process.exit(0));
  process.on('uncaughtException', (error) => void die('The kernel failed', textOf(error)));
  process.on('unhandledRejection', (error) => void die('The kernel failed', textOf(error)));
  // The service decides when the kernel ends; a Ctrl-C reaches the whole group.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  const resolver = createSystemResolver();
  const environment = { now: () => Date.now(), logger, resolver, country: geo.country, asn: geo.asn };
  const kernel = await create(environment, (reason) => void die('The kernel ended', reason));
  const child = new KernelChild(kernel, events, {
    send,
    exit: (code) => process.exit(code),
    reloadGeo: (paths) => geo.reload(paths),
  });
  process.on('message', (message: ParentMessage) => guardPromise(null, child.handle(message)));
  await send({ type: 'ready', pid: process.pid }).catch(() => process.exit(1));
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
