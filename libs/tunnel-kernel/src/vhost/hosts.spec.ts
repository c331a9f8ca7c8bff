import { afterEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';

let rig: HostRig;
afterEach(() => rig.close());

describe('a host', () => {
  it('is served by its target', async () => {
    rig = await HostRig.start();
    const port = await rig.origin((request, response) => {
      response.setHeader('X-Path', request.url ?? '');
      response.end(JSON.stringify(request.headers));
    });
    await rig.serve(rig.hostConfig([port]));
    const answer = await rig.ask({ path: '/x?y=1', headers: { 'X-Mine': 'z' } });
    expect(answer.status).toBe(200);
    expect(answer.headers['x-path']).toBe('/x?y=1');
    expect(JSON.parse(answer.body)).toMatchObject({
      host: 'a.test',
      'x-mine': 'z',
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'a.test',
      'x-forwarded-port': String(rig.http),
    });
  });
});
