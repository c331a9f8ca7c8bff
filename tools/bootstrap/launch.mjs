import { spawn } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PlainFailure } from './failure.mjs';
import { ROOT } from './layout.mjs';
import { isRunning, parentOf, startTimeOf } from './process-identity.mjs';
import { localized } from './language.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const WATCH_MS = 1_000;

/** Runs a child on this terminal, hands signals on to it, and resolves with its exit code. */
export function runForwarding(command, args, { env = process.env, cwd, ipc = false } = {}) {
  return new Promise((resolve, reject) => {
    const stdio = ipc ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit';
    const child = spawn(command, args, { env, cwd, stdio });
    const forward = (signal) => child.kill(signal);
    for (const signal of SIGNALS) process.on(signal, forward);
    const finish = () => SIGNALS.forEach((signal) => process.off(signal, forward));
    child.on('error', (cause) => {
      finish();
      reject(
        new PlainFailure(
          localized(`could not start ${command}: ${cause.message}`, `无法启动 ${command}：${cause.message}`),
          { cause },
        ),
      );
    });
    child.on('exit', (code, signal) => {
      finish();
      if (signal !== null) process.stderr.write(`gatehouse: ${localized(`ended by ${signal}`, `因 ${signal} 结束`)}\n`);
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}

/** The npm that runs us, with the shell it puts in between. */
function launchers() {
  const found = [process.ppid];
  try {
    const isShell = readFileSync(`/proc/${process.ppid}/cmdline`, 'utf8').split('\0').includes('-c');
    if (isShell) found.push(parentOf(process.ppid));
  } catch {
    // no /proc: watching the direct parent has to do
  }
  return found.filter((pid) => pid !== undefined && pid > 1).map((pid) => ({ pid, startTime: startTimeOf(pid) }));
}

/**
 * npm passes signals on, but nothing can pass on its own SIGKILL. Started through npm, the platform therefore looks
 * whether npm is still there and stops when it is not, instead of living on unseen with the ports and the database.
 */
function stopWhenNpmIsGone() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const watched = launchers();
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent && watched.every(isRunning)) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, WATCH_MS);
  timer.unref();
}

function isThisNode(runtime) {
  return realpathSync(runtime) === realpathSync(process.execPath);
}

/**
 * Runs one command of tools/dist on the given Node: in this process when it is that Node, else in a child that this
 * process only stands in front of. Resolves with the exit code.
 */
export async function launch(runtime, command, args) {
  stopWhenNpmIsGone();
  process.env.GATEHOUSE_LAUNCH_AT = String(performance.timeOrigin);
  if (isThisNode(runtime)) {
    const { run } = await import(pathToFileURL(join(ROOT, 'tools/dist/commands.js')).href);
    return run(command, args);
  }
  return runForwarding(runtime, [join(ROOT, 'tools/dist/cli.js'), command, ...args], { ipc: true });
}
