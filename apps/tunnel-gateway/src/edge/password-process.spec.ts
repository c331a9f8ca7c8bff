import { hashPassword } from '@gatehouse/auth';
import { waitFor } from '@gatehouse/testing';
import { getPriority } from 'node:os';
import type { ChildProcess } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { PasswordProcess, type PasswordProcessOptions } from './password-process.js';

let passwords: PasswordProcess;
afterEach(() => passwords.close());

function start(more: PasswordProcessOptions = {}): PasswordProcess {
  passwords = new PasswordProcess({ execArgv: [], ...more });
  return passwords;
}

const childOf = (process: PasswordProcess): ChildProcess | null =>
  (process as unknown as { child: ChildProcess | null }).child;

describe('password checks', () => {
  it('run in a separate process at low priority', async () => {
    const { verify } = start();
    const encoded = await hashPassword('open sesame');
    expect(await Promise.all([verify(encoded, 'open sesame'), verify(encoded, 'open'), verify('none', 'x')])).toEqual([
      true,
      false,
      false,
    ]);
    const pid = childOf(passwords)?.pid ?? 0;
    expect(pid).toBeGreaterThan(0);
    expect(pid).not.toBe(process.pid);
    expect(getPriority(pid)).toBeGreaterThan(getPriority());
  });

  it('fail when that process dies, and work again in the next one', async () => {
    const { verify } = start();
    const encoded = await hashPassword('open sesame');
    expect(await verify(encoded, 'open sesame')).toBe(true);
    childOf(passwords)?.kill('SIGSTOP');
    const asked = verify(encoded, 'open sesame');
    childOf(passwords)?.kill('SIGKILL');
    await expect(asked).rejects.toMatchObject({ code: 'overloaded' });
    expect(await verify(encoded, 'open sesame')).toBe(true);
  });

  it('fail when that process does not answer, and work again in the next one', async () => {
    const { verify } = start({ answerMs: 3_000 });
    const encoded = await hashPassword('open sesame');
    expect(await verify(encoded, 'open sesame')).toBe(true);
    const stuck = childOf(passwords);
    stuck?.kill('SIGSTOP');
    await expect(verify(encoded, 'open sesame')).rejects.toMatchObject({ code: 'overloaded' });
    await waitFor(() => childOf(passwords) !== stuck);
    expect(await verify(encoded, 'open sesame')).toBe(true);
  });

  it('end that process after a while without requests', async () => {
    const { verify } = start({ idleMs: 50 });
    expect(await verify('none', 'x')).toBe(false);
    const child = childOf(passwords);
    await waitFor(() => child?.exitCode !== null);
    expect(childOf(passwords)).toBeNull();
    expect(await verify('none', 'x')).toBe(false);
  });
});
