import { failFlow } from '@gatehouse/net';
import { expect, it } from 'vitest';
import { JsonLogger } from '../logging/json-logger.js';
import { FlowFailureMetrics } from './flow-failure-metrics.js';
import { MetricsRegistry } from './metrics-registry.js';

it('flows that a defect ended are counted and logged, for every process that answers', async () => {
  const lines: string[] = [];
  const metrics = new MetricsRegistry();
  const logger = new JsonLogger({ service: 'notes', level: 'info', write: (line) => lines.push(line) });
  const own = new FlowFailureMetrics(logger, metrics);
  metrics.countFlowFailures('kernel', () => Promise.resolve(7));
  metrics.countFlowFailures('edge', () => Promise.reject(new Error('it is down')));
  failFlow(null, 'Socket data', new Error('a defect'));
  for (let scrape = 0; scrape < 2; scrape += 1) {
    const { text } = await metrics.render();
    expect(text).toContain('flow_failures_total{process="service"} 1\n');
    expect(text).toContain('flow_failures_total{process="kernel"} 7\n');
    expect(text).not.toContain('process="edge"');
  }
  expect(lines.join('')).toMatch(/Socket data/);
  own.onApplicationShutdown();
  metrics.onApplicationShutdown();
});
