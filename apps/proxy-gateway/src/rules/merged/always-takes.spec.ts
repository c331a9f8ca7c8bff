import type { KernelConfig } from '@gatehouse/proxy-kernel';
import { describe, expect, it } from 'vitest';
import { targetsThatTake } from './always-takes.js';

const socks = (tag: string, udp: boolean) =>
  ({ tag, node: { type: 'socks5', name: tag, server: 's', port: 1, udp } }) as KernelConfig['outbounds'][number];
const group = (name: string, ...members: string[]) => ({ name, type: 'select' as const, members });

describe('targetsThatTake', () => {
  const takes = targetsThatTake({
    mode: 'rule',
    listeners: [],
    outbounds: [socks('n1', true), socks('n2', false)],
    groups: [
      group('good', 'n1', 'DIRECT', 'empty'),
      group('without UDP', 'n1', 'n2'),
      group('handing on', 'DIRECT', 'PASS'),
      group('above', 'good', 'without UDP'),
      group('empty'),
      group('itself', 'DIRECT', 'itself'),
    ],
    rules: [],
    defaultPolicy: 'DIRECT',
  });

  it.each([
    ['DIRECT', true],
    ['REJECT', true],
    ['REJECT-DROP', true],
    ['PASS', false],
    ['n1', true],
    ['n2', false],
    ['n3', false],
    ['good', true],
    ['without UDP', false],
    ['handing on', false],
    ['above', false],
    ['empty', true],
    ['itself', false],
    ['nowhere', false],
  ])('%s: %s', (target, expected) => {
    expect(takes(target)).toBe(expected);
  });

  it('assumes nothing about unknown nodes and groups', () => {
    const blind = targetsThatTake(null);
    expect(['DIRECT', 'n1', 'good'].map(blind)).toEqual([true, false, false]);
  });
});
