import { createSecretBox } from '@gatehouse/persistence';
import type { ProxyNode } from '@gatehouse/contracts';
import { describe, expect, it, vi } from 'vitest';
import { NodeVault, type SealedNode } from '../data/node-vault.js';
import { OpenedNodes } from './opened-nodes.js';

const box = createSecretBox(Buffer.alloc(32, 1));
const vault = new NodeVault(box);
const node = (password: string): ProxyNode => ({
  type: 'ss',
  name: 'a',
  server: '192.0.2.1',
  port: 1,
  cipher: 'aes-128-gcm',
  password,
});

const sealed = (id: number, password: string): SealedNode => ({ id, config: vault.seal(id, node(password)) });

describe('OpenedNodes', () => {
  it('opens a sealed text once, and gives it in every form', () => {
    const open = vi.spyOn(vault, 'tryOpen');
    const nodes = new OpenedNodes(vault);
    const row = sealed(1, 'secret');
    const opened = nodes.get(row);
    expect(nodes.get(row)).toBe(opened);
    expect(open).toHaveBeenCalledTimes(1);
    expect(opened.rawConfig).toContain('secret');
    expect(opened.maskedConfig).not.toContain('secret');
    expect(opened.shareLink).toMatch(/^ss:/);
    expect(opened.support).toMatchObject({ support: 'embedded' });
    expect(nodes.get(sealed(1, 'secret'))).not.toBe(opened);
  });

  it('opens a text in its own row only, also after it was opened there', () => {
    const nodes = new OpenedNodes(vault);
    const row = sealed(1, 'secret');
    nodes.get(row);
    nodes.get(sealed(2, 'other'));
    const moved = nodes.get({ ...row, id: 2 });
    expect([moved.node, moved.rawConfig, moved.maskedConfig, moved.shareLink]).toEqual([null, '', '', null]);
    expect(moved.support).toEqual({ support: 'unsupported', reason: expect.stringContaining('does not open') });
  });

  it('opens texts that were bound to the table only, as in older versions', () => {
    const config = box.seal(JSON.stringify(node('secret')), 'nodes');
    expect(new OpenedNodes(vault).get({ id: 7, config }).rawConfig).toContain('secret');
  });

  it('evicts the least recently used ones when the cache is too large', () => {
    const nodes = new OpenedNodes(vault);
    const rows = Array.from({ length: 3 }, (_, index) => sealed(index, `${index}`.repeat(3_000_000)));
    const [first, second] = rows.map((row) => nodes.get(row));
    // Three do not fit: at most two are kept.
    expect(nodes.get(rows[2]!)).toBe(nodes.get(rows[2]!));
    expect(nodes.get(rows[0]!)).not.toBe(first);
    expect(nodes.get(rows[1]!)).not.toBe(second);
  });
});
