import { readdir, readFile } from 'node:fs/promises';
import type { OperationExample } from '@gatehouse/platform';

/**
 * An exchange in the folder openapi-examples. `{{name}}` in a request stands for a value of values.json, or one that an
 * earlier answer brought; a test sends them all, in their order.
 */
export interface RecordedExample extends OperationExample {
  /** Values to keep by name, and where they are in the answer: `items.0.id`. */
  readonly keep?: Readonly<Record<string, string>>;
}

/** What `{{name}}` stands for. */
export type ExampleValues = Record<string, unknown>;

const EXAMPLES_FOLDER = new URL('../../openapi-examples/', import.meta.url);

/** The files of examples, in their order. */
export async function exampleFiles(): Promise<URL[]> {
  const names = await readdir(EXAMPLES_FOLDER);
  return names
    .filter((name) => /^\d/.test(name))
    .sort()
    .map((name) => new URL(name, EXAMPLES_FOLDER));
}

export async function readExamples(file: URL): Promise<RecordedExample[]> {
  return JSON.parse(await readFile(file, 'utf8')) as RecordedExample[];
}

/** Values for readers, in place of those of a machine that runs the examples. */
export async function documentValues(): Promise<ExampleValues> {
  return JSON.parse(await readFile(new URL('values.json', EXAMPLES_FOLDER), 'utf8')) as ExampleValues;
}

/** All examples with their values filled in, for the interface description. */
export async function loadExamples(): Promise<OperationExample[]> {
  const values = await documentValues();
  const recorded = await Promise.all((await exampleFiles()).map(readExamples));
  return recorded.flat().map((example) => {
    const { keep, answer } = example;
    const request = fillIn(example, values);
    Object.assign(values, keptValues(keep, answer));
    return { ...request, answer };
  });
}

/** The same with every `{{name}}` in its request replaced. */
export function fillIn(example: RecordedExample, values: ExampleValues): RecordedExample {
  const { path, query, body, ...rest } = example;
  return { ...rest, ...(replaceIn({ path, query, body }, values) as Pick<RecordedExample, 'path' | 'query' | 'body'>) };
}

function replaceIn(value: unknown, values: ExampleValues): unknown {
  if (typeof value === 'string') return replaceText(value, values);
  if (Array.isArray(value)) return value.map((item) => replaceIn(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replaceIn(inner, values)]));
}

function replaceText(text: string, values: ExampleValues): unknown {
  const whole = /^\{\{(\w+)\}\}$/.exec(text)?.[1];
  if (whole !== undefined) return valueOf(whole, values);
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_all, name: string) => String(valueOf(name, values)));
}

function valueOf(name: string, values: ExampleValues): unknown {
  if (!(name in values)) throw new Error(`No earlier example and no file says what ${name} is`);
  return values[name];
}

/** What later examples need of an answer. */
export function keptValues(keep: RecordedExample['keep'] = {}, answer: unknown): ExampleValues {
  const kept = Object.entries(keep).map(([name, place]) => [name, place.split('.').reduce(memberOf, answer)]);
  return Object.fromEntries(kept) as ExampleValues;
}

function memberOf(holder: unknown, key: string): unknown {
  return typeof holder === 'object' && holder !== null ? (holder as Record<string, unknown>)[key] : undefined;
}
