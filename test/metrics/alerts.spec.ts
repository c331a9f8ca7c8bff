import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { requirePeer } from '../support/peers.js';
import { ALERTS, alerts, dashboards, namesIn } from './metric-names.js';

const run = promisify(execFile);
const PROMETHEUS = new URL('../../deploy/prometheus/prometheus.yml', import.meta.url);
const RULE_TESTS = new URL('alerts.test.yml', import.meta.url);
const RUNBOOK = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');

describe('the alerts', () => {
  it('have a paragraph in the runbook each, which they link to, and no other paragraph is left', () => {
    const names = alerts().map(({ alert }) => alert);
    expect([...RUNBOOK.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)).toEqual(names);
    for (const { alert, annotations } of alerts()) {
      expect(annotations['runbook_url']).toMatch(new RegExp(`/help/runbook\\.html#${alert.toLowerCase()}$`));
    }
  });

  it('say how bad it is, and what happened, in the runbook also how to look and what to do', () => {
    for (const { alert, labels, annotations } of alerts()) {
      expect(['critical', 'warning', 'info'], alert).toContain(labels['severity']);
      expect(annotations['summary'], alert).toBeTruthy();
      expect(annotations['description'], alert).toBeTruthy();
    }
    for (const paragraph of RUNBOOK.split(/^### /m).slice(1)) {
      expect(paragraph).toContain('- **Look**:');
      expect(paragraph).toContain('- **Do**:');
    }
  });

  it('and the example of a scrape configuration are accepted by promtool', async (context) => {
    const promtool = requirePeer(context, 'promtool');
    const { stdout } = await run(promtool, ['check', 'rules', fileURLToPath(ALERTS)]);
    expect(stdout).toContain(`SUCCESS: ${alerts().length} rules found`);
    await run(promtool, ['check', 'config', fileURLToPath(PROMETHEUS)]);
  });

  it('fire when they should, and not before', async (context) => {
    const promtool = requirePeer(context, 'promtool');
    const { stdout } = await run(promtool, ['test', 'rules', fileURLToPath(RULE_TESTS)]);
    expect(stdout).toContain('SUCCESS');
  });
});

describe('the dashboards', () => {
  it('have names and places of their own, and panels with a query each', () => {
    const all = dashboards();
    expect(all.map(({ uid }) => uid).toSorted()).toEqual([
      'gatehouse-overview',
      'gatehouse-proxy-gateway',
      'gatehouse-resource-sharing',
      'gatehouse-tunnel-gateway',
    ]);
    for (const { title, panels } of all) {
      const shown = panels.filter(({ targets }) => targets !== undefined);
      expect(shown.length, title).toBeGreaterThan(5);
      for (const panel of shown)
        expect(
          panel.targets?.every(({ expr }) => expr !== ''),
          panel.title,
        ).toBe(true);
    }
  });
});

describe('the names in an expression', () => {
  it('are found without functions, labels, variables and texts', () => {
    const known = (name: string): boolean => name === 'a_total';
    const expression = 'sum by (job_name) (rate(a_total{b_c="d_e"}[$__rate_interval])) / on (x_y) f_seconds_bucket > 1';
    expect(namesIn(expression, known)).toEqual(['a_total', 'f_seconds']);
  });
});
