#!/usr/bin/env node
/** The agent's program: one command, without stored state. */
import './node-20.js';
import { EXIT } from './exit-codes.js';
import { JsonReporter, TextReporter, type Reporter } from './reporter.js';
import { runAgent } from './run-agent.js';
import { runVisitor } from './run-visitor.js';
import { UsageError } from './command-line.js';
import { readSettings } from './settings.js';
import { USAGE } from './usage.js';
import { AGENT_VERSION } from './version.js';
import { readVisitSettings } from './visit-settings.js';

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error;
  for (const problem of error.problems) process.stderr.write(`gatehouse-agent: ${problem}\n`);
  process.stderr.write('gatehouse-agent --help says more.\n');
  return EXIT.usage;
});

/** @throws UsageError */
async function main(args: readonly string[]): Promise<number> {
  const command = args[0] === 'visit' ? readVisitSettings(args.slice(1)) : readSettings(args);
  if ('run' in command) {
    const reporter = reporterFor(command.run.log);
    if ('listen' in command.run) return untilStopped(runVisitor(command.run, reporter));
    return untilStopped(runAgent(command.run, reporter, `gatehouse-agent/${AGENT_VERSION}`));
  }
  process.stdout.write(command.print === 'usage' ? USAGE : `${AGENT_VERSION}\n`);
  return EXIT.stopped;
}

function reporterFor(log: 'text' | 'json'): Reporter {
  const now = (): Date => new Date();
  return log === 'json' ? new JsonReporter(process.stdout, now) : new TextReporter(process.stdout, now);
}

function untilStopped({ stop, ended }: { stop: () => void; ended: Promise<number> }): Promise<number> {
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return ended;
}
