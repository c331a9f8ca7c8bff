import { pastTraces, type PastWork } from '@gatehouse/platform';
import type { ConnectionRecord } from '@gatehouse/proxy-kernel';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { KernelService } from '../kernel-process/kernel.service.js';

/**
 * A span for each flow through the proxy, made of the record that the kernel sends when it has ended: the kernel does nothing
 * for it, and nobody listens here while tracing is off.
 */
@Injectable()
export class FlowTraces implements OnModuleInit {
  constructor(private readonly kernel: KernelService) {}

  onModuleInit(): void {
    const trace = pastTraces();
    if (trace === null) return;
    this.kernel.onRecords(({ closed }) => {
      for (const record of closed) trace(pastWork(record));
    });
  }
}

/** Where a flow went and whose it was stays in the traffic log. */
function pastWork(record: ConnectionRecord): PastWork {
  const { id, network, startedAt, endedAt, status, chain, errorStage, errorKind } = record;
  return {
    name: `proxy ${network}`,
    startedAt,
    endedAt,
    values: {
      'network.transport': network,
      'gatehouse.connection_id': id,
      'gatehouse.outbound': chain.at(-1),
      'gatehouse.upload_bytes': record.upload,
      'gatehouse.download_bytes': record.download,
      'gatehouse.close_reason': record.closeReason,
      'gatehouse.error_stage': errorStage ?? undefined,
    },
    // A rule that rejects does what it should.
    failure: status === 'failed' ? (errorKind ?? 'other') : null,
  };
}
