import { spawnSync } from 'node:child_process';
import type { ServerAccount } from './server-account.js';

/**
 * A command line that runs a program under the server's account and, if the system supports it, ends it with this
 * process.
 */
export interface PrivilegedCommand {
  command: string;
  args: string[];
  /** Set when the account has to be changed by the spawn call itself. */
  uid?: number;
  gid?: number;
}

let pdeathsig: boolean | undefined;

/** Whether util-linux's setpriv is here and knows --pdeathsig (BusyBox's does not). */
export function hasParentDeathSignal(): boolean {
  pdeathsig ??=
    process.platform === 'linux' &&
    spawnSync('setpriv', ['--pdeathsig', 'INT', '--', 'true'], { stdio: 'ignore' }).status === 0;
  return pdeathsig;
}

/**
 * Wraps a program so that the kernel sends it `signal` when this process dies, however it dies: a kill -9 of the
 * supervisor must not leave the server behind. Without setpriv only the account is changed.
 */
export function underAccount(
  account: ServerAccount | undefined,
  signal: 'INT' | 'KILL',
  command: string,
  args: string[],
): PrivilegedCommand {
  const identity = account === undefined ? {} : { uid: account.uid, gid: account.gid };
  if (!hasParentDeathSignal()) return { command, args, ...identity };
  const switches = ['--pdeathsig', signal];
  if (account !== undefined) switches.push('--reuid', `${account.uid}`, '--regid', `${account.gid}`, '--clear-groups');
  return { command: 'setpriv', args: [...switches, '--', command, ...args] };
}
