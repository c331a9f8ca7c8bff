import { expect, it } from 'vitest';
import { nameProgram } from './user-agent.js';

it.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    { browser: 'Chrome', system: 'Linux' },
  ],
  [
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
    { browser: 'Chrome', system: 'Android' },
  ],
  ['curl/8.5.0', { browser: 'curl', system: undefined }],
  ['backup/2', null],
  ['', null],
])('%s', (userAgent, names) => {
  expect(nameProgram(userAgent)).toEqual(names);
});
