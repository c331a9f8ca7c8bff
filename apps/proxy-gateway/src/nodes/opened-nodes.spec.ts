import { createSecretBox } from '@gatehouse/persistence';
import type { ProxyNode } from '@gatehouse/contracts';
import { describe, expect, it, vi } from 'vitest';
import { NodeVault } from './node-vault.js';
import { OpenedNodes } from './opened-nodes.js';

const vault = new NodeVault(createSecretBox(Buffer.alloc(32, 1)));
const node = (password: string): ProxyNode => ({
  type: 'ss',
  name: 'a',
  server: '192.0.2.1',
  port: 1,
  cipher: 'aes-128-gcm',
  password,
});

describe('OpenedNodes', () => {
  it('opens a sealed text once, and shows it in every form', () => {
    const open = vi.spyOn(vault, 'open');
    const nodes = new OpenedNodes(vault);
    const sealed = vault.seal(node('secret'));
    const opened = nodes.get(sealed);
    expect(nodes.get(sealed)).toBe(opened);
    expect(open).toHaveBeenCalledTimes(1);
    expect(opened.rawConfig).toContain('secret');
    expect(opened.maskedConfig).not.toContain('secret');
    expect(opened.shareLink).toMatch(/^ss:/);
    expect(opened.support).toMatchObject({ support: 'embedded' });
    expect(nodes.get(vault.seal(node('secret')))).not.toBe(opened);
  });

  it('lets the ones used least recently go when they weigh too much', () => {
    const nodes = new OpenedNodes(vault);
    const sealed = Array.from({ length: 3 }, (_, index) => vault.seal(node(`${index}`.repeat(3_000_000))));
    const [first, second] = sealed.map((text) => nodes.get(text));
    // Three weigh more than there is room for: at most two are kept.
    expect(nodes.get(sealed[2]!)).toBe(nodes.get(sealed[2]!));
    expect(nodes.get(sealed[0]!)).not.toBe(first);
    expect(nodes.get(sealed[1]!)).not.toBe(second);
  });
});
