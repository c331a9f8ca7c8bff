import type { NodeTestResult } from '@gatehouse/contracts';
import type { ProbeResult, ProbeTimings } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Preferences } from '../preferences/preferences.service.js';
import { MeasurementStore } from '../measuring/measurement.store.js';
import { GENERAL_URL } from '../data/node-health.entity.js';
import { NodeTester } from '../measuring/node-tester.js';
import { probeOptions } from '../measuring/probe-options.js';
import { ProbeTargets } from '../measuring/probe-targets.js';

/** Tests one node in this process while the caller waits. */
@Injectable()
export class TestNodeService {
  constructor(
    private readonly targets: ProbeTargets,
    private readonly tester: NodeTester,
    private readonly store: MeasurementStore,
    private readonly preferences: Preferences,
    private readonly dataSource: DataSource,
  ) {}

  /** @throws AppError NOT_FOUND; UNPROCESSABLE for a node that the kernel cannot dial. */
  async run(id: number): Promise<NodeTestResult> {
    const target = await this.targets.one(id);
    const options = probeOptions(this.preferences);
    const result = await this.tester.probe(target, options);
    await this.store.record([{ nodeId: id, result }], { testUrl: GENERAL_URL, jobId: null });
    const [exit]: { exit_ip: string | null; country: string | null }[] = await this.dataSource.query(
      'SELECT exit_ip, country FROM nodes WHERE id = $1',
      [id],
    );
    return toView(id, options.url, result, exit ?? { exit_ip: null, country: null });
  }
}

function toView(
  id: number,
  testUrl: string,
  result: ProbeResult,
  exit: Pick<NodeTestResult, 'exit_ip' | 'country'>,
): NodeTestResult {
  return {
    id,
    ok: result.ok,
    delay_ms: whole(result.delayMs),
    http_status: result.httpStatus,
    test_url: testUrl,
    timings: toTimings(result.timings),
    ...exit,
    error: result.error,
    tested_at: new Date(result.testedAt).toISOString(),
  };
}

function toTimings(timings: ProbeTimings): NodeTestResult['timings'] {
  return {
    dns_ms: whole(timings.dnsMs),
    connect_ms: whole(timings.connectMs),
    tls_ms: whole(timings.tlsMs),
    handshake_ms: whole(timings.handshakeMs),
    ttfb_ms: whole(timings.ttfbMs),
  };
}

function whole(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
