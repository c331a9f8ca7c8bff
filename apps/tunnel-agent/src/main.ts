#!/usr/bin/env node
/** The agent's program: one command, without stored state. */
import './node-20.js';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { terminalLanguage } from '@gatehouse/i18n';
import { EXIT } from './exit-codes.js';
import { KeptLogins } from './gateway/kept-logins.js';
import { isLoginAction, readLoginCommand } from './gateway/login-settings.js';
import { agentWords } from './messages/index.js';
import { JsonReporter, TextReporter, type Reporter } from './reporter.js';
import { runAgent } from './run-agent.js';
import { logIn, runLogin } from './run-login.js';
import { runPublication } from './run-publication.js';
import { runService } from './run-service.js';
import { readStatusCommand, runStatus } from './run-status.js';
import { runVisitor } from './run-visitor.js';
import { UsageError } from './options/command-line.js';
import { publishes, readPublishSettings } from './publish/publish-settings.js';
import { readServiceCommand } from './service/service-settings.js';
import { OWN_ENVIRONMENT, readSettings } from './options/settings.js';
import { StatusPlace } from './status/status-place.js';
import { USAGE } from './usage.js';
import { CHINESE_USAGE } from './usage.zh-CN.js';
import { AGENT_VERSION } from './version.js';
import { readVisitSettings } from './options/visit-settings.js';

const words = agentWords(terminalLanguage(OWN_ENVIRONMENT));

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error;
  for (const problem of error.problems(words)) process.stderr.write(`gatehouse-agent: ${problem}\n`);
  process.stderr.write(`${words.text('help')}\n`);
  return EXIT.usage;
});

/** @throws UsageError */
async function main(args: readonly string[]): Promise<number> {
  const command = readCommand(args);
  if ('service' in command) {
    // A single executable is its own Node: its first argument is not a script.
    const program = { executable: process.execPath, script: isSea() ? null : fileURLToPath(import.meta.url) };
    return runService(command.service, { words, output: process.stdout, environment: OWN_ENVIRONMENT, program });
  }
  const statusPlace = StatusPlace.of(OWN_ENVIRONMENT);
  if ('status' in command) return runStatus(command.status, { place: statusPlace, words, output: process.stdout });
  const account = { words, output: process.stdout, logins: KeptLogins.of(OWN_ENVIRONMENT) };
  if ('account' in command) return untilStopped(runLogin(command.account, account));
  if ('run' in command) {
    const { log } = command.run;
    const reporter = reporterFor(log);
    const spoken = log === 'json' ? agentWords('en') : words;
    if ('listen' in command.run) return untilStopped(runVisitor(command.run, reporter, spoken));
    if ('publish' in command.run) {
      return untilStopped(
        runPublication(command.run, {
          reporter,
          words: spoken,
          version: AGENT_VERSION,
          statusPlace,
          logIn: (settings, signal) => logIn(settings, account, signal),
        }),
      );
    }
    return untilStopped(runAgent(command.run, { reporter, version: AGENT_VERSION, statusPlace }));
  }
  const usage = words.language === 'zh-CN' ? CHINESE_USAGE : USAGE;
  process.stdout.write(command.print === 'usage' ? usage : `${AGENT_VERSION}\n`);
  return EXIT.stopped;
}

function readCommand(args: readonly string[]) {
  if (args[0] === 'service') return readServiceCommand(args.slice(1), OWN_ENVIRONMENT);
  if (args[0] === 'status') return readStatusCommand(args.slice(1));
  if (isLoginAction(args[0])) return readLoginCommand(args);
  if (args[0] === 'visit') return readVisitSettings(args.slice(1));
  return publishes(args[0]) ? readPublishSettings(args) : readSettings(args);
}

function reporterFor(log: 'text' | 'json'): Reporter {
  const now = (): Date => new Date();
  return log === 'json' ? new JsonReporter(process.stdout, now) : new TextReporter(process.stdout, now, words);
}

function untilStopped({ stop, ended }: { stop: () => void; ended: Promise<number> }): Promise<number> {
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return ended;
}
