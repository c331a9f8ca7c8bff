import { loadExamples } from '../src/openapi/examples.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationExample } from '@gatehouse/platform';
import { readDescription } from './support/description.js';
import type { Description } from './support/description.js';
import { exampleSteps, startExampleWorld } from './support/example-world.js';
import type { ExampleWorld } from './support/example-world.js';

/** Writes the answers into the files instead of only checking them. */
const recording = process.env['RECORD_EXAMPLES'] === '1';

const steps = await exampleSteps();
let world: ExampleWorld;
let description: Description;
beforeAll(async () => {
  world = await startExampleWorld();
  description = await readDescription(world.base);
});
afterAll(async () => {
  if (recording) await world.record();
  await world[Symbol.asyncDispose]();
});

describe('examples of the interface description', () => {
  // In order, since later examples use values of earlier ones.
  it.each(steps)('$operation ($name) is answered as described', async (step) => {
    const operation = description.operation(step.operation);
    const sent = world.fill(step);
    if (sent.body !== undefined) expect(operation.problemsOfBody(sent.body)).toEqual([]);
    const came = await world.send(sent, operation);
    expect(operation.problemsOfAnswer(came)).toEqual([]);
    if (recording) return world.keepAnswer(step, came);
    expect([came.status, came.mediaType], JSON.stringify(came.answer)).toEqual([step.status, step.mediaType]);
  });

  it.skipIf(recording)('exist for every operation, and fit it', async () => {
    const examples = await loadExamples();
    const shown = new Set(examples.map(({ operation }) => operation));
    expect(description.operationIds().filter((id) => !shown.has(id))).toEqual([]);
    expect(examples.flatMap((example) => problemsOf(example))).toEqual([]);
  });

  it.skipIf(recording)('are in the document, where tools look for them', () => {
    const without = description.operationIds().filter((id) => !description.operation(id).showsExamples());
    expect(without).toEqual([]);
  });
});

/** Checks the recorded exchange against the schemas, since readers see it. */
function problemsOf(example: OperationExample): string[] {
  const operation = description.operation(example.operation);
  const ofBody = example.body === undefined ? [] : operation.problemsOfBody(example.body);
  return [...ofBody, ...operation.problemsOfAnswer(example)].map((problem) => `${example.operation}: ${problem}`);
}
