import { readFile } from 'node:fs/promises';
import type { OperationExample } from '@gatehouse/platform';

/** Recorded requests and answers; a test sends them. */
export const EXAMPLES_FILE = new URL('../../openapi-examples.json', import.meta.url);

export async function loadExamples(): Promise<OperationExample[]> {
  return JSON.parse(await readFile(EXAMPLES_FILE, 'utf8')) as OperationExample[];
}

export async function loadDescriptions(): Promise<Readonly<Record<string, string>>> {
  return (await import('./operation-descriptions.js')).OPERATION_DESCRIPTIONS;
}
