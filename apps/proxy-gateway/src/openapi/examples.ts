import { readdir, readFile } from 'node:fs/promises';
import type { OperationExample } from '@gatehouse/platform';

/**
 * An exchange in the folder openapi-examples. `{{name}}` in a request is replaced by a value from values.json or from
 * an earlier answer. A test sends all of them in order.
 */
export interface RecordedExample extends OperationExample {
  /** Values to keep from the answer, by name: the path of each, such as `items.0.id`. */
  readonly keep?: Readonly<Record<string, string>>;
}

/** The values that replace `{{name}}`. */
export type ExampleValues = Record<string, unknown>;

const EXAMPLES_FOLDER = new URL('../../openapi-examples/', import.meta.url);

/** The files with examples, in order. */
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

/** Values for the documentation, instead of those of the machine that runs the examples. */
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

/** A copy of the example with every `{{name}}` in its request replaced. */
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

/** The values of an answer that later examples need. */
export function keptValues(keep: RecordedExample['keep'] = {}, answer: unknown): ExampleValues {
  const kept = Object.entries(keep).map(([name, place]) => [name, place.split('.').reduce(memberOf, answer)]);
  return Object.fromEntries(kept) as ExampleValues;
}

function memberOf(holder: unknown, key: string): unknown {
  return typeof holder === 'object' && holder !== null ? (holder as Record<string, unknown>)[key] : undefined;
}
