import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { requiredHttp } from '../../bootstrap/required-http.mjs';

const run = promisify(execFile);

const PROGRAM = `import * as whole from "node:http";
import main, { request as ask } from "node:http";
import { STATUS_CODES } from "http";
import { createHash } from "node:crypto";
const loaded = process.moduleLoadList.filter((name) => name.includes('undici'));
console.log(JSON.stringify([whole.METHODS.includes('GET'), main === whole, ask === main.request, STATUS_CODES[200], loaded.length > 0]));`;

async function answerOf(program: string): Promise<unknown> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program]);
  return JSON.parse(stdout);
}

it('has a program require node:http, and spares it what an import of that loads', async () => {
  const { code } = requiredHttp().renderChunk(PROGRAM) ?? { code: '' };
  expect(await answerOf(PROGRAM)).toEqual([true, false, true, 'OK', true]);
  expect(await answerOf(code)).toEqual([true, true, true, 'OK', false]);
  expect(code.split('\n')).toHaveLength(PROGRAM.split('\n').length);
});

it('leaves programs without it alone, and does not guess at what it does not know', () => {
  expect(requiredHttp().renderChunk('import { connect } from "node:net";')).toBeNull();
  expect(() => requiredHttp().renderChunk('import { type a } as b from "node:http";')).toThrow('nobody knows');
});
