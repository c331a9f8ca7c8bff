import { reservePort, startTcpEcho, waitFor } from '@gatehouse/testing';
import { describe, expect, it } from 'vitest';
import { RunningProxyGateway } from '../support/proxy-gateway.js';
import { readExactly, socksConnect } from '../support/socks-client.js';
import { StandInCollector, type ReceivedSpan } from '../support/stand-in-collector.js';
import { TIME_LIMIT } from './time-limit.js';

describe('a flow through the proxy', TIME_LIMIT, () => {
  it('is a trace of its own, which says how it ended and not where it went', async () => {
    await using collector = await StandInCollector.start();
    await using gateway = await RunningProxyGateway.start(collector.settings);
    await using echo = await startTcpEcho();
    const port = await gateway.proxyPort();
    const socket = await socksConnect(port, echo.port, 'localhost');
    socket.write(Buffer.alloc(1_000));
    await readExactly(socket, 1_000);
    socket.destroy();
    await expect(socksConnect(port, await reservePort(), 'localhost')).rejects.toThrow(/answered/);
    const flows = (): ReceivedSpan[] => collector.spans.filter(({ name }) => name === 'proxy tcp');
    await waitFor(() => flows().length === 2);
    const [passed, refused] = flows().toSorted((one, other) => Number(one.failed) - Number(other.failed));
    expect(passed).toMatchObject({
      service: 'proxy-gateway',
      parentId: '',
      failed: false,
      values: {
        'network.transport': 'tcp',
        'gatehouse.outbound': 'DIRECT',
        'gatehouse.upload_bytes': 1_000,
        'gatehouse.download_bytes': 1_000,
      },
    });
    expect(passed?.milliseconds).toBeGreaterThanOrEqual(0);
    expect(refused).toMatchObject({ failed: true, values: { 'error.type': 'connection_refused' } });
    expect(JSON.stringify([passed, refused])).not.toContain('localhost');
    expect(passed?.traceId).not.toBe(refused?.traceId);
  });
});
