import type { ConnectionRecord, ConnectionSnapshot, TrafficDelta } from '@gatehouse/proxy-kernel';

export const NOON = Date.UTC(2026, 4, 17, 12, 0, 0);

/** A finished flow to example.com through n7 by default. */
export function aRecord(overrides: Partial<ConnectionRecord> = {}): ConnectionRecord {
  return {
    ...aConnection(),
    endedAt: NOON + 1_500,
    status: 'ok',
    httpStatus: null,
    errorStage: null,
    errorKind: null,
    errorErrno: null,
    errorMessage: null,
    closeReason: 'client_closed',
    ...overrides,
  };
}

/** An open flow to example.com through n7 by default. */
export function aConnection(overrides: Partial<ConnectionSnapshot> = {}): ConnectionSnapshot {
  return {
    id: '1',
    network: 'tcp',
    type: 'HTTPS',
    sourceIp: '192.168.1.20',
    sourcePort: 50_000,
    inboundName: 'mixed',
    inboundUser: null,
    host: 'example.com',
    destinationIp: null,
    destinationPort: 443,
    rule: { id: 1, index: 0, source: 'manual', type: 'DOMAIN-SUFFIX', payload: 'example.com', target: 'PROXY' },
    chain: ['PROXY', 'n7'],
    nodeTag: 'n7',
    remoteDestination: '198.51.100.7',
    upload: 100,
    download: 2_000,
    uploadSpeed: 10,
    downloadSpeed: 20,
    startedAt: NOON,
    state: 'open',
    ...overrides,
  };
}

export function aDelta(overrides: Partial<TrafficDelta> = {}): TrafficDelta {
  return { at: NOON, upload: 0, download: 0, outbounds: {}, rules: {}, ...overrides };
}
