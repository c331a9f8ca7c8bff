import { KernelConfigError } from '@gatehouse/proxy-kernel';
import type { KernelConfig } from '@gatehouse/proxy-kernel';
import { describe, expect, it } from 'vitest';
import type { KernelConfigRows } from '../kernel-config/kernel-config.mapper.js';
import { KernelConfigurator } from './kernel-configurator.js';
import { KernelUnavailableError } from './kernel-errors.js';
import type { KernelMethod } from '../common/kernel-ipc.js';
import type { KernelProcess, KernelProcessState } from './kernel-process.js';

interface Asked {
  method: KernelMethod;
  params: unknown;
}

function setup() {
  const asked: Asked[] = [];
  const rows: KernelConfigRows = {
    nodes: [1, 2].map((id) => ({
      id,
      name: `node ${id}`,
      country: null,
      node: { type: 'socks5', name: `node ${id}`, server: '192.0.2.1', port: id },
      subscriptionIds: [],
      tags: [],
      alive: null,
      unsupportedReason: null,
    })),
    groups: [
      {
        id: 1,
        name: 'PROXY',
        type: 'select',
        members: [],
        filter: {},
        exclude: null,
        includeCountries: false,
        automatic: false,
        emptyFallback: 'REJECT',
        country: null,
        testUrl: null,
        expectedStatus: null,
        intervalSec: null,
        lazy: true,
        toleranceMs: null,
        strategy: null,
        selectedTag: null,
        selectedName: null,
      },
    ],
    rules: [],
    defaultPolicy: 'PROXY',
    listeners: [],
  };
  const world = {
    rows,
    state: 'running' as KernelProcessState,
    pid: 1,
    answer: (_asked: Asked): unknown => ({ generation: 1 }),
    loads: 0,
    applied: 0,
  };
  const process = {
    get state() {
      return world.state;
    },
    get pid() {
      return world.pid;
    },
    request: (method: KernelMethod, params: unknown) => {
      asked.push({ method, params });
      return Promise.resolve().then(() => world.answer({ method, params }));
    },
  } as unknown as KernelProcess;
  const configurator = new KernelConfigurator(
    process,
    {
      whole: () => Promise.resolve((world.loads++, structuredClone(world.rows))),
      selections: () => {
        const chosen = world.rows.groups.filter(({ selectedTag }) => selectedTag !== null);
        return Promise.resolve(new Map(chosen.map(({ name, selectedTag }) => [name, selectedTag!])));
      },
    },
    () => Promise.resolve(void world.applied++),
  );
  const select = (tag: string | null): void => {
    world.rows = { ...world.rows, groups: [{ ...world.rows.groups[0]!, selectedTag: tag }] };
  };
  return { asked, world, configurator, select, methods: () => asked.map(({ method }) => method) };
}

describe('KernelConfigurator', () => {
  it('applies the rows once', async () => {
    const { configurator, methods, asked } = setup();
    expect(configurator.state).toBe('starting');
    expect(await configurator.refresh()).toEqual({ generation: 1 });
    expect((asked[0]!.params as KernelConfig).outbounds).toHaveLength(2);
    expect(configurator.state).toBe('running');
    expect(await configurator.refresh()).toBeNull();
    expect(methods()).toEqual(['apply']);
  });

  it('applies again when forced, when the rows changed, and for a new kernel', async () => {
    const { configurator, methods, world } = setup();
    await configurator.refresh();
    await configurator.force();
    world.rows = { ...world.rows, defaultPolicy: 'DIRECT' };
    await configurator.refresh();
    configurator.forget();
    await configurator.refresh();
    expect(methods()).toEqual(['apply', 'apply', 'apply', 'apply']);
  });

  it('switches groups without a new generation, and takes choices back', async () => {
    const { configurator, asked, select } = setup();
    await configurator.refresh();
    select('n2');
    await configurator.refresh();
    await configurator.refresh();
    select(null);
    await configurator.refresh();
    expect(asked.slice(1)).toEqual([
      { method: 'select', params: { group: 'PROXY', member: 'n2' } },
      { method: 'select', params: { group: 'PROXY', member: null } },
    ]);
  });

  it('reads only selections if nothing else changed', async () => {
    const { configurator, asked, select, world } = setup();
    await configurator.refresh();
    select('n2');
    await configurator.refreshSelections();
    select('n9');
    await configurator.refreshSelections();
    expect([world.loads, asked.slice(1).map(({ params }) => params)]).toEqual([
      1,
      [
        { group: 'PROXY', member: 'n2' },
        { group: 'PROXY', member: null },
      ],
    ]);
    // A caller that changed more at the same time must get a full read.
    world.rows = { ...world.rows, defaultPolicy: 'DIRECT' };
    const first = configurator.refreshSelections();
    await Promise.all([first, configurator.refreshSelections(), configurator.refresh()]);
    expect(configurator.applied!.config.defaultPolicy).toBe('DIRECT');
    configurator.forget();
    await configurator.refreshSelections();
    expect([world.loads, asked.at(-1)!.method]).toEqual([3, 'apply']);
  });

  it('keeps the applied configuration while a new one is invalid, and reports the failure', async () => {
    const { configurator, world } = setup();
    await configurator.refresh();
    const before = configurator.applied;
    world.rows = { ...world.rows, defaultPolicy: 'DIRECT' };
    world.answer = () => {
      throw new KernelConfigError('rules[0]', 'bad');
    };
    await expect(configurator.refresh()).rejects.toThrow('rules[0]: bad');
    expect([configurator.state, configurator.applied]).toEqual(['degraded', before]);
    world.answer = () => ({ generation: 2 });
    await configurator.refresh();
    expect([configurator.state, configurator.failure]).toEqual(['running', null]);
  });

  it('does nothing without a kernel, and ignores the answer of one that has died', async () => {
    const { configurator, world, methods } = setup();
    world.state = 'restarting';
    expect(await configurator.refresh()).toBeNull();
    expect([world.loads, configurator.state]).toEqual([0, 'degraded']);
    world.state = 'running';
    world.answer = () => (world.pid++, { generation: 1 });
    await configurator.refresh();
    expect(configurator.applied).toBeNull();
    world.answer = () => ({ generation: 1 });
    await configurator.refresh();
    expect(methods()).toEqual(['apply', 'apply']);
  });

  it('reports that the kernel does not answer', async () => {
    const { configurator, world } = setup();
    world.answer = () => {
      throw new KernelUnavailableError('gone');
    };
    await expect(configurator.refresh()).rejects.toThrow(KernelUnavailableError);
    expect(world.applied).toBe(0);
  });

  it('never applies older rows after newer ones', async () => {
    const { configurator, world, asked } = setup();
    const first = configurator.refresh();
    world.rows = { ...world.rows, defaultPolicy: 'DIRECT' };
    await Promise.all([first, configurator.refresh(), configurator.force()]);
    expect(asked.map(({ params }) => (params as KernelConfig).defaultPolicy)).toEqual(['PROXY', 'DIRECT']);
  });
});
