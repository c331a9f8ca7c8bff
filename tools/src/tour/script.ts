import { terminalWidth } from '@gatehouse/i18n';
import { localized } from '../../bootstrap/language.mjs';
import { CHINESE_TITLES, type TourTitle } from './titles.js';

/** Prints a tour as numbered steps, and fails loudly at the first thing that is not as it says. */
export class TourFailure extends Error {
  override name = 'TourFailure';
}

export class Script {
  #step = 0;
  #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  chapter(title: TourTitle): void {
    const text = inTerminalLanguage(title);
    this.#print(`\n${text}\n${'─'.repeat(terminalWidth(text))}`);
  }

  /** Runs one step and prints its title, then what it found. @throws TourFailure with the step's number. */
  async step<T>(name: TourTitle, run: (say: (line: string) => void) => Promise<T>): Promise<T> {
    const title = inTerminalLanguage(name);
    const number = String(++this.#step).padStart(2);
    const said: string[] = [];
    try {
      const result = await run((line) => said.push(line));
      this.#print(`${number}  ok    ${title}`);
      for (const line of said) this.#print(`          ${line}`);
      return result;
    } catch (error) {
      this.#print(`${number}  FAIL  ${title}`);
      for (const line of said) this.#print(`          ${line}`);
      const reason = error instanceof Error ? error.message : String(error);
      throw new TourFailure(
        localized(`step ${this.#step} (${title}): ${reason}`, `第 ${this.#step} 步（${title}）：${reason}`),
        { cause: error },
      );
    }
  }
}

function inTerminalLanguage(title: TourTitle): string {
  return localized(title, CHINESE_TITLES[title]);
}

/** @throws TourFailure that names both values unless they are the same. */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new TourFailure(`${what} is ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
  }
}

export function expectThat(condition: boolean, what: string): asserts condition {
  if (!condition) throw new TourFailure(what);
}

/** Asks until the answer is there. @throws TourFailure after `timeoutMs`. */
export async function eventually<T>(what: string, ask: () => Promise<T | undefined>, timeoutMs = 10_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new TourFailure(`${what} did not happen within ${timeoutMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
