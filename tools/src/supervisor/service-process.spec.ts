import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRunning } from '../../bootstrap/process-identity.mjs';
import { ServiceProcess, ServiceStartError } from './service-process.js';

const READY = `process.send({ type: 'ready', port: 4242 });`;

describe('ServiceProcess', () => {
  let folder: string;
  let notes: string[];
  let pids: number[];
  let service: ServiceProcess | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'service-'));
    [notes, pids] = [[], []];
  });
  afterEach(async () => {
    await service?.stop(0);
    rmSync(folder, { recursive: true });
  });

  function serve(script: string): ServiceProcess {
    const file = join(folder, 'service.cjs');
    writeFileSync(file, script);
    service = new ServiceProcess({
      name: 'test',
      command: process.execPath,
      args: [file],
      env: { PATH: process.env['PATH'] },
      cwd: folder,
      logFile: join(folder, 'test.log'),
      notify: (text) => notes.push(text),
      onSpawn: (pid) => pids.push(pid),
    });
    return service;
  }

  it('is ready when it says so, logs to its file, and stops when asked', async () => {
    const running = serve(
      `${READY} console.log('hello'); setInterval(() => {}, 1000); process.on('SIGTERM', () => { console.log('bye'); process.exit(0); });`,
    );
    expect(await running.start()).toBe(4242);
    await waitFor(() => readFileSync(join(folder, 'test.log'), 'utf8').includes('hello'));
    await running.stop(5_000);
    expect(pids.map((pid) => isRunning({ pid }))).toEqual([false]);
    expect(notes).toEqual([]);
  });

  it('fails with its last words when it ends before it is ready', async () => {
    const failure = await serve(`console.error('no database here'); process.exit(3);`)
      .start()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ServiceStartError);
    expect((failure as ServiceStartError).message).toBe('test ended with code 3 before it was ready');
    expect((failure as ServiceStartError).tail).toEqual(['no database here']);
  });

  it('fails with its own sentence first, which is not shown twice', async () => {
    const script = `for (let i = 0; i < 30; i++) console.log(JSON.stringify({ level: 'info', message: 'step ' + i }));
      console.error('test: the key is missing');
      process.send({ type: 'failed', lines: ['the key is missing', 'put it back'] }, () => process.exit(1));`;
    const failure = await serve(script)
      .start()
      .catch((error: unknown) => error);
    expect((failure as ServiceStartError).message).toBe('test cannot start: the key is missing');
    expect((failure as ServiceStartError).tail).toEqual(['put it back']);
    expect(notes).toEqual([]);
  });

  it('shows what it warned of while it started when it is ready', async () => {
    const running = serve(
      `console.error('mind this'); setTimeout(() => { ${READY} }, 100); setInterval(() => {}, 1000);`,
    );
    await running.start();
    expect(notes).toEqual(['[test] mind this']);
  });

  it('is ended with everything it started when it does not stop', async () => {
    const grandchild = `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']).pid`;
    const running = serve(
      `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('child ' + ${grandchild}); ${READY}`,
    );
    await running.start();
    const child = await waitFor(() => /child (\d+)/.exec(readFileSync(join(folder, 'test.log'), 'utf8'))?.[1]);
    await running.stop(100);
    await waitFor(() => !isRunning({ pid: Number(child) }));
    expect(isRunning({ pid: pids[0] ?? 0 })).toBe(false);
  });

  it('is started again after a crash, and not after a stop', async () => {
    const running = serve(`${READY} setInterval(() => {}, 1000);`);
    await running.start();
    process.kill(pids[0] ?? 0, 'SIGKILL');
    await waitFor(() => notes.includes('[test] is back'));
    expect(notes[0]).toMatch(/was ended by SIGKILL; starting it again in 0\.5 s/);
    await running.stop(5_000);
    expect(pids).toHaveLength(2);
    expect(pids.some((pid) => isRunning({ pid }))).toBe(false);
  });

  it('is replaced by one with the code that is there then, and is still watched', async () => {
    const running = serve(`console.log('first'); ${READY} setInterval(() => {}, 1000);`);
    await running.start();
    writeFileSync(join(folder, 'service.cjs'), `console.log('second'); ${READY} setInterval(() => {}, 1000);`);
    await running.replace(5_000);
    await waitFor(() => readFileSync(join(folder, 'test.log'), 'utf8').includes('second'));
    expect(isRunning({ pid: pids[0] ?? 0 })).toBe(false);
    process.kill(pids[1] ?? 0, 'SIGKILL');
    await waitFor(() => notes.includes('[test] is back'));
  });

  it('stays down when what replaces it does not start, and can be replaced again', async () => {
    const running = serve(`${READY} setInterval(() => {}, 1000);`);
    await running.start();
    writeFileSync(join(folder, 'service.cjs'), `console.error('a typing error'); process.exit(1);`);
    await expect(running.replace(5_000)).rejects.toThrow('test ended with code 1 before it was ready');
    writeFileSync(join(folder, 'service.cjs'), `${READY} setInterval(() => {}, 1000);`);
    await running.replace(5_000);
    expect(isRunning({ pid: pids[2] ?? 0 })).toBe(true);
  });
});
