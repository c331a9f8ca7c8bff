/** The kernel's process: one kernel, told over IPC what to be. Holds no file, no database and no secret of the service's. */
import { createProxyKernel, createSystemResolver } from '@gatehouse/proxy-kernel';
import type { KernelLogger } from '@gatehouse/proxy-kernel';
import { KernelChild } from './kernel-child.js';
import { KernelEventQueue } from './kernel-event-queue.js';
import { KernelGeo } from './kernel-geo.js';
import type { ChildMessage, KernelLogEntry, ParentMessage } from './kernel-ipc.js';

/** Resolves when the channel took the message: that is the backpressure. */
function send(message: ChildMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!process.send) reject(new Error('This program is started by proxy-gateway, not by hand.'));
    else process.send(message, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}

const events = new KernelEventQueue((batch) => send({ type: 'events', ...batch }));

const log =
  (level: KernelLogEntry['level']): KernelLogger['info'] =>
  (message, fields) =>
    events.log({ at: Date.now(), level, message, ...(fields ? { fields } : {}) });
const logger: KernelLogger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };

const geo = new KernelGeo(logger);

/** The process must not outlive the service, nor go on after a failure nobody expected: another one is started. */
async function die(message: string, error: unknown): Promise<void> {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  logger.error(message, { error: stack });
  await events.flush();
  process.exit(1);
}

const kernel = createProxyKernel({
  now: () => Date.now(),
  logger,
  resolver: createSystemResolver(),
  country: geo.country,
  asn: geo.asn,
});
const child = new KernelChild(kernel, events, {
  send,
  exit: (code) => process.exit(code),
  reloadGeo: (paths) => geo.reload(paths),
});

process.on('message', (message: ParentMessage) => void child.handle(message));
process.on('disconnect', () => process.exit(0));
process.on('uncaughtException', (error) => void die('The kernel failed', error));
process.on('unhandledRejection', (error) => void die('The kernel failed', error));
// The service decides when the kernel ends; a Ctrl-C reaches the whole group.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

send({ type: 'ready', pid: process.pid }).catch(() => process.exit(1));
