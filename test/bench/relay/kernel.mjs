// The proxy kernel alone in a process, as the service runs it, with one route given on the command line. With `port` it shares
// that one with other kernels.
import { createProxyKernel } from '@gatehouse/proxy-kernel';

const { method, password, server, port = 0 } = JSON.parse(process.argv[2] ?? '{}');
const quiet = () => {};
const kernel = createProxyKernel({
  now: Date.now,
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  resolver: { resolve: async () => [] },
  country: () => null,
  sharesPorts: port !== 0,
});
const outbounds = method
  ? [{ tag: 'n1', node: { name: 'bench', type: 'ss', server: '127.0.0.1', port: server, cipher: method, password } }]
  : [];
const { listeners } = await kernel.apply({
  mode: 'rule',
  listeners: [{ name: 'mixed', type: 'mixed', address: '127.0.0.1', port }],
  outbounds,
  groups: [],
  rules: [{ id: 1, source: 'manual', type: 'IP-CIDR', payload: '127.0.0.0/8', target: method ? 'n1' : 'DIRECT' }],
  defaultPolicy: 'REJECT',
});
process.send({ port: listeners[0].port });
process.on('disconnect', () => process.exit(0));
