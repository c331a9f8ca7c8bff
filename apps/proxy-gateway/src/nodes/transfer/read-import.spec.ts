import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { testParser } from '../../../test/support/document-parser.js';
import { ImportReader } from './read-import.js';

const COUNT = 20_000;
const links = Array.from({ length: COUNT }, (_, i) => `trojan://p@h${i}.example:443?sni=s${i}.example#n${i}`).join(
  '\n',
);
const objects = Array.from({ length: COUNT }, (_, i) => ({
  name: `n${i}`,
  type: 'trojan',
  server: `h${i}.example`,
  port: 443,
  password: 'p',
}));

/** The longest time that the event loop was blocked, in milliseconds. */
async function heldUp(work: () => Promise<void> | void): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await work();
  await new Promise((resolve) => setTimeout(resolve, 20));
  delay.disable();
  return delay.max / 1e6;
}

describe('ImportReader', () => {
  it.each([
    ['links', (reader: ImportReader) => reader.addText(links)],
    ['a JSON list', (reader: ImportReader) => reader.addObjects(objects)],
  ])('reads thousands of nodes from %s and lets others have their turn', async (_what, add) => {
    const reader = new ImportReader(testParser());
    const held = await heldUp(() => add(reader));
    expect(reader.read.entries.length).toBe(COUNT);
    expect(reader.read.entries.at(-1)?.node.name).toBe(`n${COUNT - 1}`);
    // Without slices it would be seconds; the margin is for a busy machine.
    expect(held).toBeLessThan(1_000);
  });
});
