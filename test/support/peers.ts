import { findPeer, peerOrSkip } from '@gatehouse/testing';
import type { TestContext } from 'vitest';

/** The program, or the end of this test: a failure in CI, elsewhere a skip that says what to do. */
export function requirePeer(context: TestContext, name: string): string {
  return peerOrSkip(name) ?? context.skip(`${name} is not installed: npm run peers`);
}

/** Whether a suite can prepare itself; where it cannot, each of its tests says so through requirePeer. */
export function havePeers(names: readonly string[]): boolean {
  return names.every((name) => findPeer(name) !== undefined);
}

/** A program that `npm run peers` brings only on request: without it the test is skipped, with that reason. */
export function optionalPeer(
  context: TestContext,
  name: string,
  option: '--go' | '--helm' | '--python' = '--go',
): string {
  return findPeer(name) ?? context.skip(`${name} is not installed: npm run peers -- ${option}`);
}
