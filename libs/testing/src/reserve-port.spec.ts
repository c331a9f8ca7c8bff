import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { reservePort } from './reserve-port.js';

it('ports are given out once, except those that are taken', async () => {
  const ports = [await reservePort(), await reservePort()];
  const taken = Math.max(...ports) + 1;
  const other = createServer().listen(taken, '127.0.0.1');
  await once(other, 'listening');
  for (let count = 0; count < 40; count++) ports.push(await reservePort());
  expect(new Set(ports).size).toBe(ports.length);
  expect(ports).not.toContain(taken);
  other.close();
});

it('no process gets a port from the block of another one', async () => {
  const program = new URL('../dist/reserve-port.js', import.meta.url);
  const script = `import { reservePort } from ${JSON.stringify(program.href)};
    const ports = []; for (let count = 0; count < 15; count++) ports.push(await reservePort());
    process.send(ports); process.on('disconnect', () => process.exit());`;
  const processes = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  );
  const answers = await Promise.all(processes.map((child) => once(child, 'message') as Promise<[number[]]>));
  const blocks = answers.flatMap(([ports]) => [...new Set(ports.map((port) => Math.floor(port / 20)))]);
  expect(new Set(blocks).size).toBe(blocks.length);
  for (const child of processes) child.disconnect();
});
