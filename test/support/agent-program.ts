import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The file that people run: `npm run build` makes it. */
export const AGENT_FILE = fileURLToPath(new URL('../../apps/tunnel-agent/dist/gatehouse-agent.mjs', import.meta.url));

export interface StartedAgent {
  child: ChildProcess;
  /** All that it has printed. */
  output: () => string;
  /** Its exit code; null where a signal ended it. */
  code: Promise<number | null>;
}

/** Agents, or visitors, that run as programs of their own on a Node of the test's choice. */
export class AgentPrograms {
  readonly #children: ChildProcess[] = [];
  readonly #node: string;
  /** Where `status` finds them, instead of among agents that run on this machine. */
  #statusFolder: string | undefined;

  constructor(node: string) {
    this.#node = node;
  }

  start(args: readonly string[], environment: Record<string, string> = {}, file = AGENT_FILE): StartedAgent {
    this.#statusFolder ??= mkdtempSync(path.join(os.tmpdir(), 'gatehouse-agent-run-'));
    const env = { RUNTIME_DIRECTORY: this.#statusFolder, ...environment };
    const child = spawn(this.#node, [file, ...args], { env, stdio: 'pipe' });
    this.#children.push(child);
    let text = '';
    child.stdout.on('data', (part) => (text += String(part)));
    child.stderr.on('data', (part) => (text += String(part)));
    const code = once(child, 'close').then(([number]) => number as number | null);
    return { child, output: () => text, code };
  }

  killAll(): void {
    for (const child of this.#children.splice(0)) child.kill('SIGKILL');
    if (this.#statusFolder !== undefined) rmSync(this.#statusFolder, { recursive: true, force: true });
    this.#statusFolder = undefined;
  }
}
