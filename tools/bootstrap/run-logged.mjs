import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { PlainFailure } from './failure.mjs';

/** The last non-empty lines of a log, for showing beside a failure. */
export function lastLines(file, count = 12) {
  try {
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trimEnd());
    return lines.filter((line) => line !== '').slice(-count);
  } catch {
    return []; // the log is an extra: the failure it belongs to is reported anyway
  }
}

function stopGroup(child) {
  try {
    if (process.platform === 'win32') child.kill();
    else process.kill(-child.pid, 'SIGTERM');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/**
 * Runs a command with its output kept in a file. The command has a process group of its own and is stopped with this
 * process, so that an interrupted installation leaves nothing running. Resolves with the exit code.
 */
export function runLogged(command, args, { cwd, env, logFile }) {
  mkdirSync(dirname(logFile), { recursive: true });
  const log = openSync(logFile, 'w');
  return new Promise((resolve, reject) => {
    let interrupted;
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ['ignore', log, log],
      detached: process.platform !== 'win32',
    });
    const interrupt = (signal) => {
      interrupted = signal;
      stopGroup(child);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, interrupt);
    const finish = () => {
      for (const signal of signals) process.off(signal, interrupt);
      closeSync(log);
    };
    child.on('error', (cause) => {
      finish();
      reject(new PlainFailure(`could not start ${command}: ${cause.message}`, { cause }));
    });
    child.on('exit', (code, signal) => {
      finish();
      if (interrupted === undefined) resolve(code ?? 128 + constants.signals[signal]);
      else reject(new PlainFailure(`stopped by ${interrupted}`, { exitCode: 128 + constants.signals[interrupted] }));
    });
  });
}
