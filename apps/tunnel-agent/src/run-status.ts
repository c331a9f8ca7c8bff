import { Complaint, parseCommandLine, UsageError } from './options/command-line.js';
import { EXIT } from './exit-codes.js';
import type { AgentWords } from './messages/index.js';
import type { Output } from './reporter.js';
import type { StatusPlace } from './status/status-place.js';
import { askAgents } from './status/status-reader.js';
import { statusText } from './status/status-text.js';

const OPTIONS = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

export type StatusCommand = { status: { json: boolean } } | { print: 'usage' };

/** @throws UsageError */
export function readStatusCommand(args: readonly string[]): StatusCommand {
  const { json = false, help } = parseCommandLine(args, OPTIONS);
  return help ? { print: 'usage' } : { status: { json } };
}

/** Prints what the agents of this user say, all of them with root's right. Returns the exit code. @throws UsageError */
export async function runStatus(
  { json }: { json: boolean },
  { place, words, output }: { place: StatusPlace; words: AgentWords; output: Output },
): Promise<number> {
  const { agents, silent } = await askAgents(place).catch((error: unknown) => {
    throw new UsageError([new Complaint(() => (error as Error).message)]);
  });
  if (json) output.write(`${JSON.stringify({ agents, silent }, null, 2)}\n`);
  else {
    if (agents.length > 0) output.write(statusText(agents, words));
    else if (silent === 0) output.write(`${words.text('agents.none')}\n`);
    if (silent > 0) output.write(`${words.text('agents.silent', { count: String(silent) })}\n`);
  }
  if (agents.length === 0 && silent === 0) return EXIT.noAgent;
  return silent === 0 && agents.every(({ state }) => state === 'online') ? EXIT.stopped : EXIT.offline;
}
