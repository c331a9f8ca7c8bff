#!/usr/bin/env node
/** The agent's program: one command, no state of its own. */
import { EXIT } from './exit-codes.js';
import { JsonReporter, TextReporter } from './reporter.js';
import { runAgent } from './run-agent.js';
import { readSettings, UsageError, type Command } from './settings.js';
import { USAGE } from './usage.js';
import { AGENT_VERSION } from './version.js';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let command: Command;
  try {
    command = readSettings(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    for (const problem of error.problems) process.stderr.write(`gatehouse-agent: ${problem}\n`);
    process.stderr.write('gatehouse-agent --help says more.\n');
    return EXIT.usage;
  }
  if ('print' in command) {
    process.stdout.write(command.print === 'usage' ? USAGE : `${AGENT_VERSION}\n`);
    return EXIT.stopped;
  }
  const { run: settings } = command;
  const now = (): Date => new Date();
  const reporter =
    settings.log === 'json' ? new JsonReporter(process.stdout, now) : new TextReporter(process.stdout, now);
  const running = runAgent(settings, reporter, `gatehouse-agent/${AGENT_VERSION}`);
  process.on('SIGTERM', running.stop);
  process.on('SIGINT', running.stop);
  return running.ended;
}
