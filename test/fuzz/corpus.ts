import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where inputs are kept that broke a parser once, as they are before they are wrapped. */
export function corpusFolder(target: string): string {
  return fileURLToPath(new URL(`./corpus/${target}`, import.meta.url));
}

/** By file name. */
export function readCorpus(target: string): Map<string, Buffer> {
  const folder = corpusFolder(target);
  if (!existsSync(folder)) return new Map();
  return new Map(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, readFileSync(`${folder}/${name}`)]),
  );
}
